
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type nat =
| O
| S of nat

(** val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option **)

let option_map f = function
| Some a -> Some (f a)
| None -> None

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val compOpp : comparison -> comparison **)

let compOpp = function
| Eq -> Eq
| Lt -> Gt
| Gt -> Lt

module Coq__1 = struct
 (** val add : nat -> nat -> nat **)
 let rec add n m =
   match n with
   | O -> m
   | S p -> S (add p m)
end
include Coq__1

type positive =
| XI of positive
| XO of positive
| XH

type z =
| Z0
| Zpos of positive
| Zneg of positive

module type EqLtLe =
 sig
  type t
 end

module MakeOrderTac =
 functor (O:EqLtLe) ->
 functor (P:sig
 end) ->
 struct
 end

module Pos =
 struct
  (** val succ : positive -> positive **)

  let rec succ = function
  | XI p -> XO (succ p)
  | XO p -> XI p
  | XH -> XO XH

  (** val add : positive -> positive -> positive **)

  let rec add x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XO p ->
      (match y with
       | XI q -> XI (add p q)
       | XO q -> XO (add p q)
       | XH -> XI p)
    | XH -> (match y with
             | XI q -> XO (succ q)
             | XO q -> XI q
             | XH -> XO XH)

  (** val add_carry : positive -> positive -> positive **)

  and add_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XI (add_carry p q)
       | XO q -> XO (add_carry p q)
       | XH -> XI (succ p))
    | XO p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XH ->
      (match y with
       | XI q -> XI (succ q)
       | XO q -> XO (succ q)
       | XH -> XI XH)

  (** val pred_double : positive -> positive **)

  let rec pred_double = function
  | XI p -> XI (XO p)
  | XO p -> XI (pred_double p)
  | XH -> XH

  (** val mul : positive -> positive -> positive **)

  let rec mul x y =
    match x with
    | XI p -> add y (XO (mul p y))
    | XO p -> XO (mul p y)
    | XH -> y

  (** val compare_cont : comparison -> positive -> positive -> comparison **)

  let rec compare_cont r x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> compare_cont r p q
       | XO q -> compare_cont Gt p q
       | XH -> Gt)
    | XO p ->
      (match y with
       | XI q -> compare_cont Lt p q
       | XO q -> compare_cont r p q
       | XH -> Gt)
    | XH -> (match y with
             | XH -> r
             | _ -> Lt)

  (** val compare : positive -> positive -> comparison **)

  let compare =
    compare_cont Eq

  (** val eqb : positive -> positive -> bool **)

  let rec eqb p q =
    match p with
    | XI p0 -> (match q with
                | XI q0 -> eqb p0 q0
                | _ -> false)
    | XO p0 -> (match q with
                | XO q0 -> eqb p0 q0
                | _ -> false)
    | XH -> (match q with
             | XH -> true
             | _ -> false)
 end

module Z =
 struct
  (** val double : z -> z **)

  let double = function
  | Z0 -> Z0
  | Zpos p -> Zpos (XO p)
  | Zneg p -> Zneg (XO p)

  (** val succ_double : z -> z **)

  let succ_double = function
  | Z0 -> Zpos XH
  | Zpos p -> Zpos (XI p)
  | Zneg p -> Zneg (Pos.pred_double p)

  (** val pred_double : z -> z **)

  let pred_double = function
  | Z0 -> Zneg XH
  | Zpos p -> Zpos (Pos.pred_double p)
  | Zneg p -> Zneg (XI p)

  (** val pos_sub : positive -> positive -> z **)

  let rec pos_sub x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> double (pos_sub p q)
       | XO q -> succ_double (pos_sub p q)
       | XH -> Zpos (XO p))
    | XO p ->
      (match y with
       | XI q -> pred_double (pos_sub p q)
       | XO q -> double (pos_sub p q)
       | XH -> Zpos (Pos.pred_double p))
    | XH ->
      (match y with
       | XI q -> Zneg (XO q)
       | XO q -> Zneg (Pos.pred_double q)
       | XH -> Z0)

  (** val add : z -> z -> z **)

  let add x y =
    match x with
    | Z0 -> y
    | Zpos x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> Zpos (Pos.add x' y')
       | Zneg y' -> pos_sub x' y')
    | Zneg x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> pos_sub y' x'
       | Zneg y' -> Zneg (Pos.add x' y'))

  (** val opp : z -> z **)

  let opp = function
  | Z0 -> Z0
  | Zpos x0 -> Zneg x0
  | Zneg x0 -> Zpos x0

  (** val sub : z -> z -> z **)

  let sub m n =
    add m (opp n)

  (** val mul : z -> z -> z **)

  let mul x y =
    match x with
    | Z0 -> Z0
    | Zpos x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zpos (Pos.mul x' y')
       | Zneg y' -> Zneg (Pos.mul x' y'))
    | Zneg x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zneg (Pos.mul x' y')
       | Zneg y' -> Zpos (Pos.mul x' y'))

  (** val compare : z -> z -> comparison **)

  let compare x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> Eq
             | Zpos _ -> Lt
             | Zneg _ -> Gt)
    | Zpos x' -> (match y with
                  | Zpos y' -> Pos.compare x' y'
                  | _ -> Gt)
    | Zneg x' ->
      (match y with
       | Zneg y' -> compOpp (Pos.compare x' y')
       | _ -> Lt)

  (** val leb : z -> z -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val ltb : z -> z -> bool **)

  let ltb x y =
    match compare x y with
    | Lt -> true
    | _ -> false

  (** val eqb : z -> z -> bool **)

  let eqb x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> true
             | _ -> false)
    | Zpos p -> (match y with
                 | Zpos q -> Pos.eqb p q
                 | _ -> false)
    | Zneg p -> (match y with
                 | Zneg q -> Pos.eqb p q
                 | _ -> false)

  (** val pos_div_eucl : positive -> z -> z * z **)

  let rec pos_div_eucl a b =
    match a with
    | XI a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' = add (mul (Zpos (XO XH)) r) (Zpos XH) in
      if ltb r' b
      then ((mul (Zpos (XO XH)) q), r')
      else ((add (mul (Zpos (XO XH)) q) (Zpos XH)), (sub r' b))
    | XO a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' = mul (Zpos (XO XH)) r in
      if ltb r' b
      then ((mul (Zpos (XO XH)) q), r')
      else ((add (mul (Zpos (XO XH)) q) (Zpos XH)), (sub r' b))
    | XH -> if leb (Zpos (XO XH)) b then (Z0, (Zpos XH)) else ((Zpos XH), Z0)

  (** val div_eucl : z -> z -> z * z **)

  let div_eucl a b =
    match a with
    | Z0 -> (Z0, Z0)
    | Zpos a' ->
      (match b with
       | Z0 -> (Z0, a)
       | Zpos _ -> pos_div_eucl a' b
       | Zneg b' ->
         let (q, r) = pos_div_eucl a' (Zpos b') in
         (match r with
          | Z0 -> ((opp q), Z0)
          | _ -> ((opp (add q (Zpos XH))), (add b r))))
    | Zneg a' ->
      (match b with
       | Z0 -> (Z0, a)
       | Zpos _ ->
         let (q, r) = pos_div_eucl a' b in
         (match r with
          | Z0 -> ((opp q), Z0)
          | _ -> ((opp (add q (Zpos XH))), (sub b r)))
       | Zneg b' -> let (q, r) = pos_div_eucl a' (Zpos b') in (q, (opp r)))

  (** val div : z -> z -> z **)

  let div a b =
    let (q, _) = div_eucl a b in q

  (** val modulo : z -> z -> z **)

  let modulo a b =
    let (_, r) = div_eucl a b in r
 end

(** val nth_error : 'a1 list -> nat -> 'a1 option **)

let rec nth_error l = function
| O -> (match l with
        | [] -> None
        | x :: _ -> Some x)
| S n0 -> (match l with
           | [] -> None
           | _ :: l0 -> nth_error l0 n0)

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t0 -> (f a) :: (map f t0)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t0 -> app (f x) (flat_map f t0)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t0 -> fold_left f t0 (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t0 -> f b (fold_right f a0 t0)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

type op =
| OAdd
| OSub
| OMul
| ODiv
| OMod

type term =
| Num of z
| Var of positive
| Op of op * term * term

type rel =
| REq
| RLe
| RLt

type formula =
| Rel of rel * term * term
| And of formula * formula
| Or of formula * formula
| Imp of formula * formula
| Not of formula

type theorem = { vars : positive list; defs : (positive * term) list;
                 hyps : formula list; goals : formula list }

(** val equation : (positive * term) -> formula **)

let equation d =
  Rel (REq, (Var (fst d)), (snd d))

type question = formula list * formula

(** val op_id : op -> positive **)

let op_id = function
| OAdd -> XH
| OSub -> XO XH
| OMul -> XI XH
| ODiv -> XO (XO XH)
| OMod -> XI (XO XH)

(** val term_compare : term -> term -> comparison **)

let rec term_compare a b =
  match a with
  | Num x -> (match b with
              | Num y -> Z.compare x y
              | _ -> Lt)
  | Var x ->
    (match b with
     | Num _ -> Gt
     | Var y -> Pos.compare x y
     | Op (_, _, _) -> Lt)
  | Op (o, a1, a2) ->
    (match b with
     | Op (o', b1, b2) ->
       (match Pos.compare (op_id o) (op_id o') with
        | Eq ->
          (match term_compare a1 b1 with
           | Eq -> term_compare a2 b2
           | x -> x)
        | x -> x)
     | _ -> Gt)

(** val term_eqb : term -> term -> bool **)

let term_eqb a b =
  match term_compare a b with
  | Eq -> true
  | _ -> false

type mono = term list

type poly = (mono * z) list

(** val mono_compare : mono -> mono -> comparison **)

let rec mono_compare a b =
  match a with
  | [] -> (match b with
           | [] -> Eq
           | _ :: _ -> Lt)
  | x :: a0 ->
    (match b with
     | [] -> Gt
     | y :: b0 ->
       (match term_compare x y with
        | Eq -> mono_compare a0 b0
        | x0 -> x0))

(** val mono_mul : mono -> mono -> mono **)

let rec mono_mul a = match a with
| [] -> (fun b -> b)
| x :: a' ->
  let rec inner b = match b with
  | [] -> a
  | y :: b' ->
    (match term_compare x y with
     | Gt -> y :: (inner b')
     | _ -> x :: (mono_mul a' b))
  in inner

(** val poly_add : poly -> poly -> poly **)

let rec poly_add p = match p with
| [] -> (fun q -> q)
| p0 :: p' ->
  let (m, c) = p0 in
  let rec inner q = match q with
  | [] -> p
  | p1 :: q' ->
    let (m', c') = p1 in
    (match mono_compare m m' with
     | Eq ->
       let s = Z.add c c' in
       if Z.eqb s Z0 then poly_add p' q' else (m, s) :: (poly_add p' q')
     | Lt -> (m, c) :: (poly_add p' q)
     | Gt -> (m', c') :: (inner q'))
  in inner

(** val poly_add_mono : mono -> z -> poly -> poly **)

let rec poly_add_mono m c q = match q with
| [] -> (m, c) :: []
| p :: q' ->
  let (m', c') = p in
  (match mono_compare m m' with
   | Eq -> let s = Z.add c c' in if Z.eqb s Z0 then q' else (m, s) :: q'
   | Lt -> (m, c) :: q
   | Gt -> (m', c') :: (poly_add_mono m c q'))

(** val poly_const : z -> poly **)

let poly_const z0 =
  if Z.eqb z0 Z0 then [] else ([], z0) :: []

(** val poly_scale : z -> poly -> poly **)

let poly_scale k p =
  if Z.eqb k Z0 then [] else map (fun mc -> ((fst mc), (Z.mul k (snd mc)))) p

(** val poly_mul_mono : mono -> z -> poly -> poly **)

let poly_mul_mono m c q =
  fold_right (fun mc acc ->
    poly_add_mono (mono_mul m (fst mc)) (Z.mul c (snd mc)) acc) [] q

(** val poly_mul : poly -> poly -> poly **)

let poly_mul p q =
  fold_right (fun mc acc -> poly_add (poly_mul_mono (fst mc) (snd mc) q) acc)
    [] p

(** val mono_term : mono -> term **)

let mono_term m =
  fold_right (fun t0 acc -> Op (OMul, t0, acc)) (Num (Zpos XH)) m

(** val poly_term : poly -> term **)

let poly_term p =
  fold_right (fun mc acc -> Op (OAdd, (Op (OMul, (Num (snd mc)),
    (mono_term (fst mc)))), acc)) (Num Z0) p

(** val normalize : term -> poly **)

let rec normalize = function
| Num z0 -> poly_const z0
| Var x -> (((Var x) :: []), (Zpos XH)) :: []
| Op (o, a, b) ->
  (match o with
   | OAdd -> poly_add (normalize a) (normalize b)
   | OSub -> poly_add (normalize a) (poly_scale (Zneg XH) (normalize b))
   | OMul -> poly_mul (normalize a) (normalize b)
   | _ ->
     (((Op (o, (poly_term (normalize a)), (poly_term (normalize b)))) :: []),
       (Zpos XH)) :: [])

(** val poly_eqb : poly -> poly -> bool **)

let rec poly_eqb p q =
  match p with
  | [] -> (match q with
           | [] -> true
           | _ :: _ -> false)
  | p0 :: p1 ->
    let (m, c) = p0 in
    (match q with
     | [] -> false
     | p2 :: q0 ->
       let (m', c') = p2 in
       (&&) (Z.eqb c c')
         (match mono_compare m m' with
          | Eq -> poly_eqb p1 q0
          | _ -> false))

(** val equal_polynomials : term -> term -> bool **)

let equal_polynomials a b =
  poly_eqb (normalize a) (normalize b)

type 'x compare0 =
| LT
| EQ
| GT

module type OrderedType =
 sig
  type t

  val compare : t -> t -> t compare0

  val eq_dec : t -> t -> bool
 end

module OrderedTypeFacts =
 functor (O:OrderedType) ->
 struct
  module TO =
   struct
    type t = O.t
   end

  module IsTO =
   struct
   end

  module OrderTac = MakeOrderTac(TO)(IsTO)

  (** val eq_dec : O.t -> O.t -> bool **)

  let eq_dec =
    O.eq_dec

  (** val lt_dec : O.t -> O.t -> bool **)

  let lt_dec x y =
    match O.compare x y with
    | LT -> true
    | _ -> false

  (** val eqb : O.t -> O.t -> bool **)

  let eqb x y =
    if eq_dec x y then true else false
 end

module KeyOrderedType =
 functor (O:OrderedType) ->
 struct
  module MO = OrderedTypeFacts(O)
 end

module PositiveOrderedTypeBits =
 struct
  type t = positive

  (** val compare : t -> t -> positive compare0 **)

  let rec compare p y =
    match p with
    | XI p0 -> (match y with
                | XI p1 -> compare p0 p1
                | _ -> GT)
    | XO p0 -> (match y with
                | XO p1 -> compare p0 p1
                | _ -> LT)
    | XH -> (match y with
             | XI _ -> LT
             | XO _ -> GT
             | XH -> EQ)

  (** val eq_dec : positive -> positive -> bool **)

  let eq_dec x y =
    match Pos.compare x y with
    | Eq -> true
    | _ -> false
 end

(** val append : positive -> positive -> positive **)

let rec append i j =
  match i with
  | XI ii -> XI (append ii j)
  | XO ii -> XO (append ii j)
  | XH -> j

module PositiveMap =
 struct
  module E = PositiveOrderedTypeBits

  module ME = KeyOrderedType(E)

  type key = positive

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  (** val empty : 'a1 t **)

  let empty =
    Leaf

  (** val is_empty : 'a1 t -> bool **)

  let rec is_empty = function
  | Leaf -> true
  | Node (l, o, r) ->
    (match o with
     | Some _ -> false
     | None -> (&&) (is_empty l) (is_empty r))

  (** val find : key -> 'a1 t -> 'a1 option **)

  let rec find i = function
  | Leaf -> None
  | Node (l, o, r) ->
    (match i with
     | XI ii -> find ii r
     | XO ii -> find ii l
     | XH -> o)

  (** val mem : key -> 'a1 t -> bool **)

  let rec mem i = function
  | Leaf -> false
  | Node (l, o, r) ->
    (match i with
     | XI ii -> mem ii r
     | XO ii -> mem ii l
     | XH -> (match o with
              | Some _ -> true
              | None -> false))

  (** val add : key -> 'a1 -> 'a1 t -> 'a1 t **)

  let rec add i v = function
  | Leaf ->
    (match i with
     | XI ii -> Node (Leaf, None, (add ii v Leaf))
     | XO ii -> Node ((add ii v Leaf), None, Leaf)
     | XH -> Node (Leaf, (Some v), Leaf))
  | Node (l, o, r) ->
    (match i with
     | XI ii -> Node (l, o, (add ii v r))
     | XO ii -> Node ((add ii v l), o, r)
     | XH -> Node (l, (Some v), r))

  (** val remove : key -> 'a1 t -> 'a1 t **)

  let rec remove i m =
    match i with
    | XI ii ->
      (match m with
       | Leaf -> Leaf
       | Node (l, o, r) ->
         (match l with
          | Leaf ->
            (match o with
             | Some _ -> Node (l, o, (remove ii r))
             | None ->
               (match remove ii r with
                | Leaf -> Leaf
                | Node (t0, o0, t1) -> Node (Leaf, None, (Node (t0, o0, t1)))))
          | Node (_, _, _) -> Node (l, o, (remove ii r))))
    | XO ii ->
      (match m with
       | Leaf -> Leaf
       | Node (l, o, r) ->
         (match o with
          | Some _ -> Node ((remove ii l), o, r)
          | None ->
            (match r with
             | Leaf ->
               (match remove ii l with
                | Leaf -> Leaf
                | Node (t0, o0, t1) -> Node ((Node (t0, o0, t1)), None, Leaf))
             | Node (_, _, _) -> Node ((remove ii l), o, r))))
    | XH ->
      (match m with
       | Leaf -> Leaf
       | Node (l, _, r) ->
         (match l with
          | Leaf ->
            (match r with
             | Leaf -> Leaf
             | Node (_, _, _) -> Node (l, None, r))
          | Node (_, _, _) -> Node (l, None, r)))

  (** val xelements : 'a1 t -> key -> (key * 'a1) list **)

  let rec xelements m i =
    match m with
    | Leaf -> []
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         app (xelements l (append i (XO XH))) ((i,
           x) :: (xelements r (append i (XI XH))))
       | None ->
         app (xelements l (append i (XO XH))) (xelements r (append i (XI XH))))

  (** val elements : 'a1 t -> (key * 'a1) list **)

  let elements m =
    xelements m XH

  (** val cardinal : 'a1 t -> nat **)

  let rec cardinal = function
  | Leaf -> O
  | Node (l, o, r) ->
    (match o with
     | Some _ -> S (Coq__1.add (cardinal l) (cardinal r))
     | None -> Coq__1.add (cardinal l) (cardinal r))

  (** val xfind : key -> key -> 'a1 t -> 'a1 option **)

  let rec xfind i j m =
    match i with
    | XI ii ->
      (match j with
       | XI jj -> xfind ii jj m
       | XO _ -> None
       | XH -> find i m)
    | XO ii ->
      (match j with
       | XI _ -> None
       | XO jj -> xfind ii jj m
       | XH -> find i m)
    | XH -> (match j with
             | XH -> find i m
             | _ -> None)

  (** val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t **)

  let rec xmapi f m i =
    match m with
    | Leaf -> Leaf
    | Node (l, o, r) ->
      Node ((xmapi f l (append i (XO XH))), (option_map (f i) o),
        (xmapi f r (append i (XI XH))))

  (** val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let mapi f m =
    xmapi f m XH

  (** val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let map f m =
    mapi (fun _ -> f) m

  (** val xmap2_l :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t **)

  let rec xmap2_l f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_l f l), (f o None), (xmap2_l f r))

  (** val xmap2_r :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t **)

  let rec xmap2_r f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_r f l), (f None o), (xmap2_r f r))

  (** val _map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let rec _map2 f m1 m2 =
    match m1 with
    | Leaf -> xmap2_r f m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> xmap2_l f m1
       | Node (l2, o2, r2) ->
         Node ((_map2 f l1 l2), (f o1 o2), (_map2 f r1 r2)))

  (** val map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let map2 f =
    _map2 (fun o1 o2 ->
      match o1 with
      | Some _ -> f o1 o2
      | None -> (match o2 with
                 | Some _ -> f o1 o2
                 | None -> None))

  (** val xfoldi :
      (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2 **)

  let rec xfoldi f m v i =
    match m with
    | Leaf -> v
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         xfoldi f r (f i x (xfoldi f l v (append i (XO XH))))
           (append i (XI XH))
       | None ->
         xfoldi f r (xfoldi f l v (append i (XO XH))) (append i (XI XH)))

  (** val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2 **)

  let fold f m i =
    xfoldi f m i XH

  (** val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool **)

  let rec equal cmp m1 m2 =
    match m1 with
    | Leaf -> is_empty m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> is_empty m1
       | Node (l2, o2, r2) ->
         (&&)
           ((&&)
             (match o1 with
              | Some v1 ->
                (match o2 with
                 | Some v2 -> cmp v1 v2
                 | None -> false)
              | None -> (match o2 with
                         | Some _ -> false
                         | None -> true)) (equal cmp l1 l2)) (equal cmp r1 r2))
 end

module M = PositiveMap

type move =
| Ring of term
| By of positive * bool

type step =
| Define of positive * term * positive
| Have of positive * formula * positive list
| Use of positive list * positive * (positive * term) list * positive list
| Calculate of positive * term * move list
| Rewrite of positive * positive * move list

type names = unit M.t

(** val known : names -> positive -> bool **)

let known n x =
  match M.find x n with
  | Some _ -> true
  | None -> false

(** val closed_term : names -> term -> bool **)

let rec closed_term n = function
| Num _ -> true
| Var x -> known n x
| Op (_, a, b) -> (&&) (closed_term n a) (closed_term n b)

(** val closed_formula : names -> formula -> bool **)

let rec closed_formula n = function
| Rel (_, a, b) -> (&&) (closed_term n a) (closed_term n b)
| And (f0, g) -> (&&) (closed_formula n f0) (closed_formula n g)
| Or (f0, g) -> (&&) (closed_formula n f0) (closed_formula n g)
| Imp (f0, g) -> (&&) (closed_formula n f0) (closed_formula n g)
| Not f0 -> closed_formula n f0

(** val add_definitions : names -> (positive * term) list -> names option **)

let rec add_definitions n = function
| [] -> Some n
| p :: ds0 ->
  let (x, t0) = p in
  if (&&) (negb (known n x)) (closed_term n t0)
  then add_definitions (M.add x () n) ds0
  else None

(** val add_variables : names -> positive list -> names option **)

let rec add_variables n = function
| [] -> Some n
| x :: xs0 -> if known n x then None else add_variables (M.add x () n) xs0

(** val rel_eqb : rel -> rel -> bool **)

let rel_eqb r s =
  match r with
  | REq -> (match s with
            | REq -> true
            | _ -> false)
  | RLe -> (match s with
            | RLe -> true
            | _ -> false)
  | RLt -> (match s with
            | RLt -> true
            | _ -> false)

(** val formula_eqb : formula -> formula -> bool **)

let rec formula_eqb f g =
  match f with
  | Rel (r, a, b) ->
    (match g with
     | Rel (s, c, d) ->
       (&&) ((&&) (rel_eqb r s) (term_eqb a c)) (term_eqb b d)
     | _ -> false)
  | And (a, b) ->
    (match g with
     | And (c, d) -> (&&) (formula_eqb a c) (formula_eqb b d)
     | _ -> false)
  | Or (a, b) ->
    (match g with
     | Or (c, d) -> (&&) (formula_eqb a c) (formula_eqb b d)
     | _ -> false)
  | Imp (a, b) ->
    (match g with
     | Imp (c, d) -> (&&) (formula_eqb a c) (formula_eqb b d)
     | _ -> false)
  | Not a -> (match g with
              | Not b -> formula_eqb a b
              | _ -> false)

(** val formulas_eqb : formula list -> formula list -> bool **)

let rec formulas_eqb l k =
  match l with
  | [] -> (match k with
           | [] -> true
           | _ :: _ -> false)
  | f :: l0 ->
    (match k with
     | [] -> false
     | g :: k0 -> (&&) (formula_eqb f g) (formulas_eqb l0 k0))

(** val subst : (positive -> term) -> term -> term **)

let rec subst s = function
| Num z0 -> Num z0
| Var x -> s x
| Op (o, a, b) -> Op (o, (subst s a), (subst s b))

(** val subst_formula : (positive -> term) -> formula -> formula **)

let rec subst_formula s = function
| Rel (r, a, b) -> Rel (r, (subst s a), (subst s b))
| And (f0, g) -> And ((subst_formula s f0), (subst_formula s g))
| Or (f0, g) -> Or ((subst_formula s f0), (subst_formula s g))
| Imp (f0, g) -> Imp ((subst_formula s f0), (subst_formula s g))
| Not f0 -> Not (subst_formula s f0)

(** val replace_term : term -> term -> term -> term **)

let rec replace_term old new0 t0 =
  if term_eqb t0 old
  then new0
  else (match t0 with
        | Op (o, a, b) ->
          Op (o, (replace_term old new0 a), (replace_term old new0 b))
        | _ -> t0)

(** val replace_in_formula : term -> term -> formula -> formula **)

let rec replace_in_formula old new0 = function
| Rel (r, a, b) ->
  Rel (r, (replace_term old new0 a), (replace_term old new0 b))
| And (f0, g) ->
  And ((replace_in_formula old new0 f0), (replace_in_formula old new0 g))
| Or (f0, g) ->
  Or ((replace_in_formula old new0 f0), (replace_in_formula old new0 g))
| Imp (f0, g) ->
  Imp ((replace_in_formula old new0 f0), (replace_in_formula old new0 g))
| Not f0 -> Not (replace_in_formula old new0 f0)

type state = { facts : formula M.t; derived : formula list;
               to_answer : question list }

(** val fact : state -> positive -> formula option **)

let fact s n =
  M.find n s.facts

(** val add_fact : positive -> formula -> state -> state **)

let add_fact n f s =
  { facts = (M.add n f s.facts); derived = (f :: s.derived); to_answer =
    s.to_answer }

(** val add_question : question -> state -> state **)

let add_question q s =
  { facts = s.facts; derived = s.derived; to_answer = (q :: s.to_answer) }

(** val lookup_facts : state -> positive list -> formula list option **)

let rec lookup_facts s = function
| [] -> Some []
| n :: ns0 ->
  (match fact s n with
   | Some f ->
     (match lookup_facts s ns0 with
      | Some fs -> Some (f :: fs)
      | None -> None)
   | None -> None)

(** val add_facts : positive list -> formula list -> state -> state option **)

let rec add_facts ns fs s =
  match ns with
  | [] -> (match fs with
           | [] -> Some s
           | _ :: _ -> None)
  | n :: ns0 ->
    (match fs with
     | [] -> None
     | f :: fs0 -> add_facts ns0 fs0 (add_fact n f s))

(** val sides : state -> positive -> bool -> (term * term) option **)

let sides s n back =
  match fact s n with
  | Some f ->
    (match f with
     | Rel (r, a, b) ->
       (match r with
        | REq -> Some (if back then (b, a) else (a, b))
        | _ -> None)
     | _ -> None)
  | None -> None

(** val move_term : state -> term -> move list -> term option **)

let rec move_term s t0 = function
| [] -> Some t0
| m :: ms0 ->
  (match m with
   | Ring u -> if equal_polynomials t0 u then move_term s u ms0 else None
   | By (n, back) ->
     (match sides s n back with
      | Some p ->
        let (old, new0) = p in move_term s (replace_term old new0 t0) ms0
      | None -> None))

(** val move_formula : state -> formula -> move list -> formula option **)

let rec move_formula s f = function
| [] -> Some f
| m :: ms0 ->
  (match m with
   | Ring _ -> None
   | By (n, back) ->
     (match sides s n back with
      | Some p ->
        let (old, new0) = p in
        move_formula s (replace_in_formula old new0 f) ms0
      | None -> None))

type theorems = theorem M.t

(** val lookup : (positive * term) list -> positive -> term **)

let lookup vals =
  let m = fold_left (fun m d -> M.add (fst d) (snd d) m) vals M.empty in
  (fun x -> match M.find x m with
            | Some t0 -> t0
            | None -> Var x)

(** val follow : theorems -> state -> step -> state option **)

let follow k s = function
| Define (x, t0, n) -> Some (add_fact n (equation (x, t0)) s)
| Have (n, f, ps) ->
  (match lookup_facts s ps with
   | Some fs -> Some (add_fact n f (add_question (fs, f) s))
   | None -> None)
| Use (ns, k0, vals, ps) ->
  (match M.find k0 k with
   | Some th ->
     (match lookup_facts s ps with
      | Some fs ->
        let sub0 = subst_formula (lookup vals) in
        if formulas_eqb (map sub0 (app th.hyps (map equation th.defs))) fs
        then add_facts ns (map sub0 th.goals) s
        else None
      | None -> None)
   | None -> None)
| Calculate (n, t0, ms) ->
  (match move_term s t0 ms with
   | Some u -> Some (add_fact n (Rel (REq, t0, u)) s)
   | None -> None)
| Rewrite (n, src, ms) ->
  (match fact s src with
   | Some f ->
     (match move_formula s f ms with
      | Some g -> Some (add_fact n g s)
      | None -> None)
   | None -> None)

(** val follow_all : theorems -> state -> step list -> state option **)

let rec follow_all k s = function
| [] -> Some s
| st :: p0 ->
  (match follow k s st with
   | Some s' -> follow_all k s' p0
   | None -> None)

(** val definitions_of : step list -> (positive * term) list **)

let definitions_of p =
  flat_map (fun st ->
    match st with
    | Define (x, t0, _) -> (x, t0) :: []
    | _ -> []) p

(** val initial_state : positive list -> theorem -> state option **)

let initial_state names0 th =
  add_facts names0 (app th.hyps (map equation th.defs)) { facts = M.empty;
    derived = []; to_answer = [] }

(** val check :
    theorems -> theorem -> positive list -> step list -> question list option **)

let check k th ns p =
  match add_variables M.empty th.vars with
  | Some nv ->
    (match add_definitions nv th.defs with
     | Some n ->
       if (&&) (forallb (closed_formula n) th.hyps)
            (forallb (closed_formula n) th.goals)
       then (match add_definitions n (definitions_of p) with
             | Some _ ->
               (match initial_state ns th with
                | Some s ->
                  (match follow_all k s p with
                   | Some s' ->
                     if forallb (fun g -> existsb (formula_eqb g) s'.derived)
                          th.goals
                     then Some s'.to_answer
                     else None
                   | None -> None)
                | None -> None)
             | None -> None)
       else None
     | None -> None)
  | None -> None

type refutation =
| Farkas of (nat * z) list
| Cut of (nat * z) list * z * refutation
| Split of nat * refutation * refutation
| Branch of term * refutation * refutation
| Divide of term * z * refutation
| Congruence of op * term * term * term * term * refutation * refutation
   * refutation * refutation * refutation

type context = { constraints : poly list;
                 alternatives : (formula * formula) list }

(** val add_constraint : poly -> context -> context **)

let add_constraint p c =
  { constraints = (app c.constraints (p :: [])); alternatives =
    c.alternatives }

(** val add_alternative : formula -> formula -> context -> context **)

let add_alternative f g c =
  { constraints = c.constraints; alternatives =
    (app c.alternatives ((f, g) :: [])) }

(** val add_le : term -> term -> context -> context **)

let add_le a b c =
  add_constraint (normalize (Op (OSub, b, a))) c

(** val add_lt : term -> term -> context -> context **)

let add_lt a b c =
  add_constraint (normalize (Op (OSub, (Op (OSub, b, a)), (Num (Zpos XH))))) c

(** val add_eq : term -> term -> context -> context **)

let add_eq a b c =
  add_le b a (add_le a b c)

(** val add_formula : bool -> formula -> context -> context **)

let rec add_formula pos f c =
  match f with
  | Rel (r, a, b) ->
    (match r with
     | REq ->
       if pos
       then add_eq a b c
       else add_alternative (Rel (RLt, a, b)) (Rel (RLt, b, a)) c
     | RLe -> if pos then add_le a b c else add_lt b a c
     | RLt -> if pos then add_lt a b c else add_le b a c)
  | And (f0, g) ->
    if pos
    then add_formula true g (add_formula true f0 c)
    else add_alternative (Not f0) (Not g) c
  | Or (f0, g) ->
    if pos
    then add_alternative f0 g c
    else add_formula false g (add_formula false f0 c)
  | Imp (f0, g) ->
    if pos
    then add_alternative (Not f0) g c
    else add_formula false g (add_formula true f0 c)
  | Not f0 -> add_formula (negb pos) f0 c

(** val combine : (nat * z) list -> poly list -> poly option **)

let rec combine l ps =
  match l with
  | [] -> Some []
  | p :: l0 ->
    let (n, k) = p in
    if Z.ltb k Z0
    then None
    else (match nth_error ps n with
          | Some p0 ->
            (match combine l0 ps with
             | Some q -> Some (poly_add (poly_scale k p0) q)
             | None -> None)
          | None -> None)

(** val negative_constant : poly -> bool **)

let negative_constant = function
| [] -> false
| p0 :: l ->
  let (m, c) = p0 in
  (match m with
   | [] -> (match l with
            | [] -> Z.ltb c Z0
            | _ :: _ -> false)
   | _ :: _ -> false)

(** val divide_exactly : z -> poly -> poly option **)

let rec divide_exactly d = function
| [] -> Some []
| p0 :: p1 ->
  let (m, c) = p0 in
  if Z.eqb (Z.modulo c d) Z0
  then (match divide_exactly d p1 with
        | Some q -> Some ((m, (Z.div c d)) :: q)
        | None -> None)
  else None

(** val divide_and_round : z -> poly -> poly option **)

let divide_and_round d p = match p with
| [] -> divide_exactly d p
| p0 :: p1 ->
  let (m, c) = p0 in
  (match m with
   | [] ->
     (match divide_exactly d p1 with
      | Some q -> Some (poly_add (poly_const (Z.div c d)) q)
      | None -> None)
   | _ :: _ -> divide_exactly d p)

(** val add_division : term -> z -> context -> context **)

let add_division a b c =
  let q = Op (ODiv, a, (Num b)) in
  let r = Op (OMod, a, (Num b)) in
  add_lt r (Num b)
    (add_le (Num Z0) r (add_eq (Op (OAdd, (Op (OMul, q, (Num b))), r)) a c))

(** val refute : context -> refutation -> bool **)

let rec refute c = function
| Farkas l ->
  (match combine l c.constraints with
   | Some p -> negative_constant p
   | None -> false)
| Cut (l, d, k0) ->
  if Z.ltb Z0 d
  then (match combine l c.constraints with
        | Some p ->
          (match divide_and_round d p with
           | Some q -> refute (add_constraint q c) k0
           | None -> false)
        | None -> false)
  else false
| Split (n, k1, k2) ->
  (match nth_error c.alternatives n with
   | Some p ->
     let (f, g) = p in
     (&&) (refute (add_formula true f c) k1)
       (refute (add_formula true g c) k2)
   | None -> false)
| Branch (t0, k1, k2) ->
  (&&) (refute (add_le (Num Z0) t0 c) k1) (refute (add_lt t0 (Num Z0) c) k2)
| Divide (a, b, k0) ->
  if Z.ltb Z0 b then refute (add_division a b c) k0 else false
| Congruence (o, a, a', b, b', k1, k2, k3, k4, k0) ->
  (&&)
    ((&&)
      ((&&) ((&&) (refute (add_lt a a' c) k1) (refute (add_lt a' a c) k2))
        (refute (add_lt b b' c) k3)) (refute (add_lt b' b c) k4))
    (refute (add_eq (Op (o, a, b)) (Op (o, a', b')) c) k0)

(** val initial_context : question -> context **)

let initial_context q =
  add_formula false (snd q)
    (fold_left (fun c f -> add_formula true f c) (fst q) { constraints = [];
      alternatives = [] })

(** val check_refutation : question -> refutation -> bool **)

let check_refutation q k =
  refute (initial_context q) k

(** val a_ : term **)

let a_ =
  Var XH

(** val b_ : term **)

let b_ =
  Var (XO XH)

(** val a_0 : term **)

let a_0 =
  Var (XI XH)

(** val b_0 : term **)

let b_0 =
  Var (XO (XO XH))

(** val k_ : term **)

let k_ =
  Var (XI (XO XH))

(** val q_ : term **)

let q_ =
  Var (XO (XI XH))

(** val r_ : term **)

let r_ =
  Var (XI (XI XH))

(** val x_ : term **)

let x_ =
  Var (XO (XO (XO XH)))

(** val e_ : term **)

let e_ =
  Var (XI (XO (XO XH)))

(** val plus : term -> term -> term **)

let plus x x0 =
  Op (OAdd, x, x0)

(** val minus : term -> term -> term **)

let minus x x0 =
  Op (OSub, x, x0)

(** val times : term -> term -> term **)

let times x x0 =
  Op (OMul, x, x0)

(** val quot : term -> term -> term **)

let quot x x0 =
  Op (ODiv, x, x0)

(** val remd : term -> term -> term **)

let remd x x0 =
  Op (OMod, x, x0)

(** val feq : term -> term -> formula **)

let feq x x0 =
  Rel (REq, x, x0)

(** val fle : term -> term -> formula **)

let fle x x0 =
  Rel (RLe, x, x0)

(** val flt : term -> term -> formula **)

let flt x x0 =
  Rel (RLt, x, x0)

(** val zero : term **)

let zero =
  Num Z0

(** val one : term **)

let one =
  Num (Zpos XH)

(** val mk : positive list -> formula list -> formula list -> theorem **)

let mk vs hs gs =
  { vars = vs; defs = []; hyps = hs; goals = gs }

(** val joined : term **)

let joined =
  plus (times a_ b_0) b_

(** val ceiling : term **)

let ceiling =
  quot (plus e_ (minus b_0 one)) b_0

(** val neighbours : term **)

let neighbours =
  times x_ (plus x_ one)

(** val pRODUCT : theorem **)

let pRODUCT =
  mk (XH :: ((XO XH) :: [])) [] ((Imp ((And ((fle zero a_), (fle zero b_))),
    (fle zero (times a_ b_)))) :: [])

(** val dIVISION : theorem **)

let dIVISION =
  mk ((XO (XO (XO XH))) :: ((XO (XO XH)) :: [])) ((flt zero b_0) :: [])
    ((feq (plus (times (quot x_ b_0) b_0) (remd x_ b_0)) x_) :: ((fle zero
                                                                   (remd x_
                                                                    b_0)) :: (
    (flt (remd x_ b_0) b_0) :: [])))

(** val pOSITIVE : theorem **)

let pOSITIVE =
  mk (XH :: ((XO XH) :: [])) ((flt zero a_) :: ((flt zero b_) :: []))
    ((flt zero (times a_ b_)) :: [])

(** val mONOTONE : theorem **)

let mONOTONE =
  mk (XH :: ((XO XH) :: ((XI (XO XH)) :: [])))
    ((fle a_ b_) :: ((fle zero k_) :: []))
    ((fle (times a_ k_) (times b_ k_)) :: [])

(** val bOUND : theorem **)

let bOUND =
  mk (XH :: ((XO XH) :: ((XI XH) :: ((XO (XO XH)) :: []))))
    ((fle zero a_) :: ((fle a_ a_0) :: ((fle zero b_) :: ((fle b_ b_0) :: []))))
    ((fle zero (times a_ b_)) :: ((fle (times a_ b_) (times a_0 b_0)) :: []))

(** val uNIQUE : theorem **)

let uNIQUE =
  mk ((XO (XI XH)) :: ((XI (XI XH)) :: (XH :: ((XO XH) :: ((XO (XO
    XH)) :: [])))))
    ((fle zero r_) :: ((flt r_ b_0) :: ((fle zero b_) :: ((flt b_ b_0) :: (
    (feq (plus (times q_ b_0) r_) joined) :: [])))))
    ((feq q_ a_) :: ((feq r_ b_) :: []))

(** val eUCLID : theorem **)

let eUCLID =
  mk (XH :: ((XO XH) :: ((XO (XO XH)) :: [])))
    ((fle zero b_) :: ((flt b_ b_0) :: []))
    ((feq (quot joined b_0) a_) :: ((feq (remd joined b_0) b_) :: []))

(** val cONGRUENT : theorem **)

let cONGRUENT =
  mk (XH :: ((XO XH) :: ((XO (XO XH)) :: []))) ((flt zero b_0) :: [])
    ((feq (remd joined b_0) (remd b_ b_0)) :: ((flt (remd b_ b_0) b_0) :: []))

(** val pAIR : theorem **)

let pAIR =
  mk (XH :: ((XO XH) :: ((XI XH) :: ((XO (XO XH)) :: []))))
    ((fle zero a_) :: ((flt a_ a_0) :: ((fle zero b_) :: ((flt b_ b_0) :: []))))
    ((fle zero joined) :: ((flt joined (times a_0 b_0)) :: ((feq
                                                              (quot joined
                                                                b_0) a_) :: (
    (feq (remd joined b_0) b_) :: []))))

(** val uNPAIR : theorem **)

let uNPAIR =
  mk ((XO (XO (XO XH))) :: ((XI XH) :: ((XO (XO XH)) :: [])))
    ((fle zero x_) :: ((flt x_ (times a_0 b_0)) :: ((flt zero b_0) :: [])))
    ((fle zero (quot x_ b_0)) :: ((flt (quot x_ b_0) a_0) :: ((fle zero
                                                                (remd x_ b_0)) :: (
    (flt (remd x_ b_0) b_0) :: ((feq
                                  (plus (times (quot x_ b_0) b_0)
                                    (remd x_ b_0)) x_) :: [])))))

(** val cEILING : theorem **)

let cEILING =
  mk ((XI (XO (XO XH))) :: ((XO (XO XH)) :: []))
    ((flt zero e_) :: ((flt zero b_0) :: []))
    ((flt zero ceiling) :: ((fle e_ (times ceiling b_0)) :: []))

(** val mIRROR : theorem **)

let mIRROR =
  mk ((XI (XO (XO XH))) :: ((XO (XO XH)) :: [])) ((flt zero b_0) :: [])
    ((feq (quot (minus zero e_) b_0) (minus zero ceiling)) :: [])

(** val fACTOR : theorem **)

let fACTOR =
  mk (XH :: ((XO XH) :: []))
    ((fle zero a_) :: ((flt zero (times a_ b_)) :: [])) ((flt zero b_) :: [])

(** val pARITY : theorem **)

let pARITY =
  mk ((XO (XO (XO XH))) :: []) []
    ((feq (times (Num (Zpos (XO XH))) (quot neighbours (Num (Zpos (XO XH)))))
       neighbours) :: [])

(** val lemmas : theorem list **)

let lemmas =
  pRODUCT :: (dIVISION :: (pOSITIVE :: (mONOTONE :: (bOUND :: (uNIQUE :: (eUCLID :: (cONGRUENT :: (pAIR :: (uNPAIR :: (cEILING :: (mIRROR :: (fACTOR :: (pARITY :: [])))))))))))))

(** val library : theorems **)

let library =
  snd
    (fold_left (fun nk th -> ((Pos.succ (fst nk)),
      (M.add (fst nk) th (snd nk)))) lemmas (XH, M.empty))

type item = { item_name : positive; item_theorem : theorem;
              item_facts : positive list; item_proof : step list }

(** val confirm :
    (question -> refutation) -> theorems -> item list -> bool **)

let rec confirm oracle k = function
| [] -> true
| i :: l0 ->
  (match check k i.item_theorem i.item_facts i.item_proof with
   | Some qs ->
     (&&) (forallb (fun q -> check_refutation q (oracle q)) qs)
       (confirm oracle (M.add i.item_name i.item_theorem k) l0)
   | None -> false)

(** val questions : theorems -> item list -> question list option **)

let rec questions k = function
| [] -> Some []
| i :: l0 ->
  (match check k i.item_theorem i.item_facts i.item_proof with
   | Some qs ->
     (match questions (M.add i.item_name i.item_theorem k) l0 with
      | Some r -> Some (app qs r)
      | None -> None)
   | None -> None)
