
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
 let rec add n0 m =
   match n0 with
   | O -> m
   | S p -> S (add p m)
end
include Coq__1

type positive =
| XI of positive
| XO of positive
| XH

type n =
| N0
| Npos of positive

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

module Nat =
 struct
  (** val leb : nat -> nat -> bool **)

  let rec leb n0 m =
    match n0 with
    | O -> true
    | S n' -> (match m with
               | O -> false
               | S m' -> leb n' m')

  (** val ltb : nat -> nat -> bool **)

  let ltb n0 m =
    leb (S n0) m
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

  (** val pred_N : positive -> n **)

  let pred_N = function
  | XI p -> Npos (XO p)
  | XO p -> Npos (pred_double p)
  | XH -> N0

  (** val mul : positive -> positive -> positive **)

  let rec mul x y =
    match x with
    | XI p -> add y (XO (mul p y))
    | XO p -> XO (mul p y)
    | XH -> y

  (** val iter : ('a1 -> 'a1) -> 'a1 -> positive -> 'a1 **)

  let rec iter f x = function
  | XI n' -> f (iter f (iter f x n') n')
  | XO n' -> iter f (iter f x n') n'
  | XH -> f x

  (** val size : positive -> positive **)

  let rec size = function
  | XI p0 -> succ (size p0)
  | XO p0 -> succ (size p0)
  | XH -> XH

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

  (** val coq_Nsucc_double : n -> n **)

  let coq_Nsucc_double = function
  | N0 -> Npos XH
  | Npos p -> Npos (XI p)

  (** val coq_Ndouble : n -> n **)

  let coq_Ndouble = function
  | N0 -> N0
  | Npos p -> Npos (XO p)

  (** val coq_lor : positive -> positive -> positive **)

  let rec coq_lor p q =
    match p with
    | XI p0 ->
      (match q with
       | XI q0 -> XI (coq_lor p0 q0)
       | XO q0 -> XI (coq_lor p0 q0)
       | XH -> p)
    | XO p0 ->
      (match q with
       | XI q0 -> XI (coq_lor p0 q0)
       | XO q0 -> XO (coq_lor p0 q0)
       | XH -> XI p0)
    | XH -> (match q with
             | XO q0 -> XI q0
             | _ -> q)

  (** val coq_land : positive -> positive -> n **)

  let rec coq_land p q =
    match p with
    | XI p0 ->
      (match q with
       | XI q0 -> coq_Nsucc_double (coq_land p0 q0)
       | XO q0 -> coq_Ndouble (coq_land p0 q0)
       | XH -> Npos XH)
    | XO p0 ->
      (match q with
       | XI q0 -> coq_Ndouble (coq_land p0 q0)
       | XO q0 -> coq_Ndouble (coq_land p0 q0)
       | XH -> N0)
    | XH -> (match q with
             | XO _ -> N0
             | _ -> Npos XH)

  (** val ldiff : positive -> positive -> n **)

  let rec ldiff p q =
    match p with
    | XI p0 ->
      (match q with
       | XI q0 -> coq_Ndouble (ldiff p0 q0)
       | XO q0 -> coq_Nsucc_double (ldiff p0 q0)
       | XH -> Npos (XO p0))
    | XO p0 ->
      (match q with
       | XI q0 -> coq_Ndouble (ldiff p0 q0)
       | XO q0 -> coq_Ndouble (ldiff p0 q0)
       | XH -> Npos p)
    | XH -> (match q with
             | XO _ -> Npos XH
             | _ -> N0)

  (** val coq_lxor : positive -> positive -> n **)

  let rec coq_lxor p q =
    match p with
    | XI p0 ->
      (match q with
       | XI q0 -> coq_Ndouble (coq_lxor p0 q0)
       | XO q0 -> coq_Nsucc_double (coq_lxor p0 q0)
       | XH -> Npos (XO p0))
    | XO p0 ->
      (match q with
       | XI q0 -> coq_Nsucc_double (coq_lxor p0 q0)
       | XO q0 -> coq_Ndouble (coq_lxor p0 q0)
       | XH -> Npos (XI p0))
    | XH ->
      (match q with
       | XI q0 -> Npos (XO q0)
       | XO q0 -> Npos (XI q0)
       | XH -> N0)

  (** val testbit : positive -> n -> bool **)

  let rec testbit p n0 =
    match p with
    | XI p0 -> (match n0 with
                | N0 -> true
                | Npos n1 -> testbit p0 (pred_N n1))
    | XO p0 -> (match n0 with
                | N0 -> false
                | Npos n1 -> testbit p0 (pred_N n1))
    | XH -> (match n0 with
             | N0 -> true
             | Npos _ -> false)

  (** val iter_op : ('a1 -> 'a1 -> 'a1) -> positive -> 'a1 -> 'a1 **)

  let rec iter_op op0 p a =
    match p with
    | XI p0 -> op0 a (iter_op op0 p0 (op0 a a))
    | XO p0 -> iter_op op0 p0 (op0 a a)
    | XH -> a

  (** val to_nat : positive -> nat **)

  let to_nat x =
    iter_op Coq__1.add x (S O)

  (** val of_succ_nat : nat -> positive **)

  let rec of_succ_nat = function
  | O -> XH
  | S x -> succ (of_succ_nat x)
 end

module N =
 struct
  (** val succ_pos : n -> positive **)

  let succ_pos = function
  | N0 -> XH
  | Npos p -> Pos.succ p

  (** val coq_lor : n -> n -> n **)

  let coq_lor n0 m =
    match n0 with
    | N0 -> m
    | Npos p -> (match m with
                 | N0 -> n0
                 | Npos q -> Npos (Pos.coq_lor p q))

  (** val ldiff : n -> n -> n **)

  let ldiff n0 m =
    match n0 with
    | N0 -> N0
    | Npos p -> (match m with
                 | N0 -> n0
                 | Npos q -> Pos.ldiff p q)

  (** val coq_lxor : n -> n -> n **)

  let coq_lxor n0 m =
    match n0 with
    | N0 -> m
    | Npos p -> (match m with
                 | N0 -> n0
                 | Npos q -> Pos.coq_lxor p q)

  (** val testbit : n -> n -> bool **)

  let testbit a n0 =
    match a with
    | N0 -> false
    | Npos p -> Pos.testbit p n0
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

  (** val succ : z -> z **)

  let succ x =
    add x (Zpos XH)

  (** val pred : z -> z **)

  let pred x =
    add x (Zneg XH)

  (** val sub : z -> z -> z **)

  let sub m n0 =
    add m (opp n0)

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

  (** val pow_pos : z -> positive -> z **)

  let pow_pos z0 =
    Pos.iter (mul z0) (Zpos XH)

  (** val pow : z -> z -> z **)

  let pow x = function
  | Z0 -> Zpos XH
  | Zpos p -> pow_pos x p
  | Zneg _ -> Z0

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

  (** val max : z -> z -> z **)

  let max n0 m =
    match compare n0 m with
    | Lt -> m
    | _ -> n0

  (** val min : z -> z -> z **)

  let min n0 m =
    match compare n0 m with
    | Gt -> m
    | _ -> n0

  (** val to_nat : z -> nat **)

  let to_nat = function
  | Zpos p -> Pos.to_nat p
  | _ -> O

  (** val of_nat : nat -> z **)

  let of_nat = function
  | O -> Z0
  | S n1 -> Zpos (Pos.of_succ_nat n1)

  (** val of_N : n -> z **)

  let of_N = function
  | N0 -> Z0
  | Npos p -> Zpos p

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

  (** val odd : z -> bool **)

  let odd = function
  | Z0 -> false
  | Zpos p -> (match p with
               | XO _ -> false
               | _ -> true)
  | Zneg p -> (match p with
               | XO _ -> false
               | _ -> true)

  (** val log2 : z -> z **)

  let log2 = function
  | Zpos p0 ->
    (match p0 with
     | XI p -> Zpos (Pos.size p)
     | XO p -> Zpos (Pos.size p)
     | XH -> Z0)
  | _ -> Z0

  (** val testbit : z -> z -> bool **)

  let testbit a = function
  | Z0 -> odd a
  | Zpos p ->
    (match a with
     | Z0 -> false
     | Zpos a0 -> Pos.testbit a0 (Npos p)
     | Zneg a0 -> negb (N.testbit (Pos.pred_N a0) (Npos p)))
  | Zneg _ -> false

  (** val coq_land : z -> z -> z **)

  let coq_land a b =
    match a with
    | Z0 -> Z0
    | Zpos a0 ->
      (match b with
       | Z0 -> Z0
       | Zpos b0 -> of_N (Pos.coq_land a0 b0)
       | Zneg b0 -> of_N (N.ldiff (Npos a0) (Pos.pred_N b0)))
    | Zneg a0 ->
      (match b with
       | Z0 -> Z0
       | Zpos b0 -> of_N (N.ldiff (Npos b0) (Pos.pred_N a0))
       | Zneg b0 ->
         Zneg (N.succ_pos (N.coq_lor (Pos.pred_N a0) (Pos.pred_N b0))))

  (** val coq_lxor : z -> z -> z **)

  let coq_lxor a b =
    match a with
    | Z0 -> b
    | Zpos a0 ->
      (match b with
       | Z0 -> a
       | Zpos b0 -> of_N (Pos.coq_lxor a0 b0)
       | Zneg b0 -> Zneg (N.succ_pos (N.coq_lxor (Npos a0) (Pos.pred_N b0))))
    | Zneg a0 ->
      (match b with
       | Z0 -> a
       | Zpos b0 -> Zneg (N.succ_pos (N.coq_lxor (Pos.pred_N a0) (Npos b0)))
       | Zneg b0 -> of_N (N.coq_lxor (Pos.pred_N a0) (Pos.pred_N b0)))

  (** val log2_up : z -> z **)

  let log2_up a =
    match compare (Zpos XH) a with
    | Lt -> succ (log2 (pred a))
    | _ -> Z0

  (** val b2z : bool -> z **)

  let b2z = function
  | true -> Zpos XH
  | false -> Z0
 end

(** val nth_error : 'a1 list -> nat -> 'a1 option **)

let rec nth_error l = function
| O -> (match l with
        | [] -> None
        | x :: _ -> Some x)
| S n1 -> (match l with
           | [] -> None
           | _ :: l0 -> nth_error l0 n1)

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

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl -> if f x then Some x else find f tl

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

type division = { quo : (z -> z -> z); rem : (z -> z -> z) }

type valuation = positive -> z

(** val apply_op : division -> op -> z -> z -> z **)

let apply_op d = function
| OAdd -> Z.add
| OSub -> Z.sub
| OMul -> Z.mul
| ODiv -> d.quo
| OMod -> d.rem

(** val eval : division -> valuation -> term -> z **)

let rec eval d v = function
| Num z0 -> z0
| Var x -> v x
| Op (o, a, b) -> apply_op d o (eval d v a) (eval d v b)

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
  let rec inner0 b = match b with
  | [] -> a
  | y :: b' ->
    (match term_compare x y with
     | Gt -> y :: (inner0 b')
     | _ -> x :: (mono_mul a' b))
  in inner0

(** val poly_add : poly -> poly -> poly **)

let rec poly_add p = match p with
| [] -> (fun q -> q)
| p0 :: p' ->
  let (m, c) = p0 in
  let rec inner0 q = match q with
  | [] -> p
  | p1 :: q' ->
    let (m', c') = p1 in
    (match mono_compare m m' with
     | Eq ->
       let s = Z.add c c' in
       if Z.eqb s Z0 then poly_add p' q' else (m, s) :: (poly_add p' q')
     | Lt -> (m, c) :: (poly_add p' q)
     | Gt -> (m', c') :: (inner0 q'))
  in inner0

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

let known n0 x =
  match M.find x n0 with
  | Some _ -> true
  | None -> false

(** val closed_term : names -> term -> bool **)

let rec closed_term n0 = function
| Num _ -> true
| Var x -> known n0 x
| Op (_, a, b) -> (&&) (closed_term n0 a) (closed_term n0 b)

(** val closed_formula : names -> formula -> bool **)

let rec closed_formula n0 = function
| Rel (_, a, b) -> (&&) (closed_term n0 a) (closed_term n0 b)
| And (f0, g) -> (&&) (closed_formula n0 f0) (closed_formula n0 g)
| Or (f0, g) -> (&&) (closed_formula n0 f0) (closed_formula n0 g)
| Imp (f0, g) -> (&&) (closed_formula n0 f0) (closed_formula n0 g)
| Not f0 -> closed_formula n0 f0

(** val add_definitions : names -> (positive * term) list -> names option **)

let rec add_definitions n0 = function
| [] -> Some n0
| p :: ds0 ->
  let (x, t0) = p in
  if (&&) (negb (known n0 x)) (closed_term n0 t0)
  then add_definitions (M.add x () n0) ds0
  else None

(** val add_variables : names -> positive list -> names option **)

let rec add_variables n0 = function
| [] -> Some n0
| x :: xs0 -> if known n0 x then None else add_variables (M.add x () n0) xs0

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

let fact s n0 =
  M.find n0 s.facts

(** val add_fact : positive -> formula -> state -> state **)

let add_fact n0 f s =
  { facts = (M.add n0 f s.facts); derived = (f :: s.derived); to_answer =
    s.to_answer }

(** val add_question : question -> state -> state **)

let add_question q s =
  { facts = s.facts; derived = s.derived; to_answer = (q :: s.to_answer) }

(** val lookup_facts : state -> positive list -> formula list option **)

let rec lookup_facts s = function
| [] -> Some []
| n0 :: ns0 ->
  (match fact s n0 with
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
  | n0 :: ns0 ->
    (match fs with
     | [] -> None
     | f :: fs0 -> add_facts ns0 fs0 (add_fact n0 f s))

(** val sides : state -> positive -> bool -> (term * term) option **)

let sides s n0 back =
  match fact s n0 with
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
   | By (n0, back) ->
     (match sides s n0 back with
      | Some p ->
        let (old, new0) = p in move_term s (replace_term old new0 t0) ms0
      | None -> None))

(** val move_formula : state -> formula -> move list -> formula option **)

let rec move_formula s f = function
| [] -> Some f
| m :: ms0 ->
  (match m with
   | Ring _ -> None
   | By (n0, back) ->
     (match sides s n0 back with
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
| Define (x, t0, n0) -> Some (add_fact n0 (equation (x, t0)) s)
| Have (n0, f, ps) ->
  (match lookup_facts s ps with
   | Some fs -> Some (add_fact n0 f (add_question (fs, f) s))
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
| Calculate (n0, t0, ms) ->
  (match move_term s t0 ms with
   | Some u -> Some (add_fact n0 (Rel (REq, t0, u)) s)
   | None -> None)
| Rewrite (n0, src, ms) ->
  (match fact s src with
   | Some f ->
     (match move_formula s f ms with
      | Some g -> Some (add_fact n0 g s)
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
     | Some n0 ->
       if (&&) (forallb (closed_formula n0) th.hyps)
            (forallb (closed_formula n0) th.goals)
       then (match add_definitions n0 (definitions_of p) with
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
    let (n0, k) = p in
    if Z.ltb k Z0
    then None
    else (match nth_error ps n0 with
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
| Split (n0, k1, k2) ->
  (match nth_error c.alternatives n0 with
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

(** val floor : division **)

let floor =
  { quo = Z.div; rem = Z.modulo }

type expr =
| Name of positive
| Int of z
| Calc of op * expr * expr
| Ceil of expr * expr
| Xor of expr * expr
| Mask of expr * z
| Pair of expr * expr
| Sized of expr * expr

type layout = { axes : (positive * term) list; symbols : positive list;
                where_ : (((rel * bool) * expr) * expr) list; start : 
                expr; coordinates : expr }

(** val ceiling0 : term -> term -> term **)

let ceiling0 a b =
  Op (ODiv, (Op (OAdd, a, (Op (OSub, b, (Num (Zpos XH)))))), b)

(** val plain : expr -> term **)

let rec plain = function
| Name x -> Var x
| Int z0 -> Num z0
| Calc (o, a, b) -> Op (o, (plain a), (plain b))
| Ceil (a, b) -> ceiling0 (plain a) (plain b)
| _ -> Num Z0

(** val axis_extent : (positive * term) list -> positive -> term option **)

let rec axis_extent l x =
  match l with
  | [] -> None
  | p :: l0 ->
    let (y, t0) = p in if Pos.eqb x y then Some t0 else axis_extent l0 x

(** val fold_numbers : term -> term **)

let rec fold_numbers t0 = match t0 with
| Op (o, a, b) ->
  (match o with
   | OAdd ->
     (match fold_numbers a with
      | Num x ->
        let x0 = Num x in
        (match fold_numbers b with
         | Num y -> Num (Z.add x y)
         | x1 -> Op (o, x0, x1))
      | x -> Op (o, x, (fold_numbers b)))
   | OSub ->
     (match fold_numbers a with
      | Num x ->
        let x0 = Num x in
        (match fold_numbers b with
         | Num y -> Num (Z.sub x y)
         | x1 -> Op (o, x0, x1))
      | x -> Op (o, x, (fold_numbers b)))
   | OMul ->
     (match fold_numbers a with
      | Num x ->
        let x0 = Num x in
        (match fold_numbers b with
         | Num y -> Num (Z.mul x y)
         | x1 -> Op (o, x0, x1))
      | x -> Op (o, x, (fold_numbers b)))
   | ODiv ->
     (match fold_numbers a with
      | Num x ->
        let x0 = Num x in
        (match fold_numbers b with
         | Num y -> Num (Z.div x y)
         | x1 -> Op (o, x0, x1))
      | x ->
        (match fold_numbers b with
         | Num z0 ->
           (match z0 with
            | Zpos p ->
              (match p with
               | XH -> x
               | x0 -> Op (o, x, (Num (Zpos x0))))
            | x0 -> Op (o, x, (Num x0)))
         | x0 -> Op (o, x, x0)))
   | OMod ->
     (match fold_numbers a with
      | Num x ->
        let x0 = Num x in
        (match fold_numbers b with
         | Num y -> Num (Z.modulo x y)
         | x1 -> Op (o, x0, x1))
      | x ->
        (match fold_numbers b with
         | Num z0 ->
           (match z0 with
            | Zpos p ->
              (match p with
               | XH -> Num Z0
               | x0 -> Op (o, x, (Num (Zpos x0))))
            | x0 -> Op (o, x, (Num x0)))
         | x0 -> Op (o, x, x0))))
| _ -> t0

(** val power_from : nat -> z -> z -> z **)

let rec power_from n0 p z0 =
  match n0 with
  | O -> p
  | S n1 ->
    if Z.leb z0 p then p else power_from n1 (Z.mul (Zpos (XO XH)) p) z0

(** val joined0 : term -> term -> term **)

let joined0 a b =
  match fold_numbers a with
  | Num y ->
    (match fold_numbers b with
     | Num y0 ->
       let p =
         power_from (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
           (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
           (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
           O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
           (Zpos XH) (Z.min y y0)
       in
       Op (OMul, (ceiling0 (Num (Z.max y y0)) (Num p)), (Num p))
     | x ->
       let p =
         power_from (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
           (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
           (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
           O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
           (Zpos XH) y
       in
       Op (OMul, (ceiling0 x (Num p)), (Num p)))
  | x ->
    (match fold_numbers b with
     | Num y ->
       let p =
         power_from (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
           (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
           (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
           O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
           (Zpos XH) y
       in
       Op (OMul, (ceiling0 x (Num p)), (Num p))
     | _ -> Num Z0)

(** val lowest : layout -> expr -> term **)

let rec lowest l = function
| Name x -> (match axis_extent l.axes x with
             | Some _ -> Num Z0
             | None -> Var x)
| Int z0 -> Num z0
| Calc (o, a, b) ->
  (match o with
   | OAdd -> Op (OAdd, (lowest l a), (lowest l b))
   | _ -> Num Z0)
| _ -> Num Z0

(** val extent : layout -> expr -> term **)

let rec extent l = function
| Name x ->
  (match axis_extent l.axes x with
   | Some t0 -> t0
   | None -> Op (OAdd, (Var x), (Num (Zpos XH))))
| Int z0 -> Num (Z.add z0 (Zpos XH))
| Calc (o, a, b) ->
  (match o with
   | OAdd ->
     Op (OSub, (Op (OAdd, (extent l a), (extent l b))), (Num (Zpos XH)))
   | OSub -> Op (OSub, (extent l a), (lowest l b))
   | OMul ->
     Op (OAdd, (Op (OMul, (Op (OSub, (extent l a), (Num (Zpos XH)))), (Op
       (OSub, (extent l b), (Num (Zpos XH)))))), (Num (Zpos XH)))
   | ODiv -> ceiling0 (extent l a) (plain b)
   | OMod -> plain b)
| Ceil (_, _) -> Num Z0
| Xor (a, b) -> joined0 (extent l a) (extent l b)
| Mask (_, m) -> Num (Z.add m (Zpos XH))
| Pair (a, b) -> Op (OMul, (extent l a), (extent l b))
| Sized (_, b) -> plain b

(** val value : layout -> valuation -> expr -> z **)

let rec value l v = function
| Name x -> v x
| Int z0 -> z0
| Calc (o, a, b) -> apply_op floor o (value l v a) (value l v b)
| Ceil (a, b) ->
  Z.div (Z.add (value l v a) (Z.sub (value l v b) (Zpos XH))) (value l v b)
| Xor (a, b) -> Z.coq_lxor (value l v a) (value l v b)
| Mask (a, m) -> Z.coq_land (value l v a) m
| Pair (a, b) ->
  Z.add (Z.mul (value l v a) (eval floor v (extent l b))) (value l v b)
| Sized (a, _) -> value l v a

(** val parts : expr -> expr list **)

let rec parts = function
| Calc (_, a, b) -> app (parts a) (parts b)
| Ceil (a, b) -> app (parts a) (parts b)
| Xor (a, b) -> app (parts a) (parts b)
| Mask (a, _) -> parts a
| Pair (a, b) ->
  app (match a with
       | Pair (_, _) -> []
       | _ -> a :: []) (b :: (app (parts a) (parts b)))
| Sized (a, _) -> parts a
| _ -> []

(** val zip : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec zip l k =
  match l with
  | [] -> []
  | x :: l0 -> (match k with
                | [] -> []
                | y :: k0 -> (x, y) :: (zip l0 k0))

type inverse = { slot_name : positive; box : (positive * term) list;
                 found : (positive * term) list; gaps : formula list }

(** val avoids : (positive -> bool) -> term -> bool **)

let rec avoids taken0 = function
| Num _ -> true
| Var x -> negb (taken0 x)
| Op (_, a, b) -> (&&) (avoids taken0 a) (avoids taken0 b)

(** val formula_avoids : (positive -> bool) -> formula -> bool **)

let rec formula_avoids taken0 = function
| Rel (_, a, b) -> (&&) (avoids taken0 a) (avoids taken0 b)
| And (f0, g) -> (&&) (formula_avoids taken0 f0) (formula_avoids taken0 g)
| Or (f0, g) -> (&&) (formula_avoids taken0 f0) (formula_avoids taken0 g)
| Imp (f0, g) -> (&&) (formula_avoids taken0 f0) (formula_avoids taken0 g)
| Not f0 -> formula_avoids taken0 f0

(** val same : term -> term -> bool **)

let same a b =
  (||) (term_eqb a b) (equal_polynomials (fold_numbers a) (fold_numbers b))

(** val same_formula : formula -> formula -> bool **)

let rec same_formula f g =
  match f with
  | Rel (r, a, b) ->
    (match g with
     | Rel (s, c, d) -> (&&) ((&&) (rel_eqb r s) (same a c)) (same b d)
     | _ -> false)
  | And (a, b) ->
    (match g with
     | And (c, d) -> (&&) (same_formula a c) (same_formula b d)
     | _ -> false)
  | Or (a, b) ->
    (match g with
     | Or (c, d) -> (&&) (same_formula a c) (same_formula b d)
     | _ -> false)
  | Imp (a, b) ->
    (match g with
     | Imp (c, d) -> (&&) (same_formula a c) (same_formula b d)
     | _ -> false)
  | Not a -> (match g with
              | Not b -> same_formula a b
              | _ -> false)

(** val term_at : term M.t -> positive -> term **)

let term_at m x =
  match M.find x m with
  | Some t0 -> t0
  | None -> Var x

(** val find_slot : (positive * term) list -> positive -> term option **)

let rec find_slot slots x =
  match slots with
  | [] -> None
  | p :: l ->
    let (y, t0) = p in if Pos.eqb x y then Some t0 else find_slot l x

(** val expand :
    (positive * term) list -> term M.t -> (positive * term) list -> term M.t
    option **)

let rec expand slots m = function
| [] -> Some m
| p :: ds0 ->
  let (x, t0) = p in
  let u = subst (term_at m) t0 in
  (match find_slot slots x with
   | Some s -> if same u s then expand slots (M.add x (Var x) m) ds0 else None
   | None -> expand slots (M.add x u m) ds0)

(** val says :
    (positive * term) list -> formula list -> formula list -> theorem -> bool **)

let says slots given wanted th =
  match expand slots M.empty th.defs with
  | Some m ->
    let sub0 = subst_formula (term_at m) in
    let gs = map sub0 th.goals in
    (&&) (forallb (fun h -> existsb (same_formula (sub0 h)) given) th.hyps)
      (forallb (fun g -> existsb (same_formula g) gs) wanted)
  | None -> false

type spelling = { as_term : (term * formula list) option;
                  as_bit : (nat -> term option) }

(** val pow2 : nat -> z **)

let pow2 k =
  Z.pow (Zpos (XO XH)) (Z.of_nat k)

(** val over : term -> nat -> term **)

let over t0 k = match k with
| O -> t0
| S _ -> Op (ODiv, t0, (Num (pow2 k)))

(** val times0 : term -> nat -> term **)

let times0 t0 k = match k with
| O -> t0
| S _ -> Op (OMul, t0, (Num (pow2 k)))

(** val log2_of : z -> nat option **)

let log2_of z0 =
  let k = Z.to_nat (Z.log2 z0) in if Z.eqb (pow2 k) z0 then Some k else None

(** val a_bit : (term * formula list) option -> nat -> term option **)

let a_bit t0 k =
  match t0 with
  | Some p ->
    let (t1, l) = p in
    (match l with
     | [] -> Some (Op (OMod, (over t1 k), (Num (Zpos (XO XH)))))
     | _ :: _ -> None)
  | None -> None

(** val parity : term -> term -> term **)

let parity a b =
  match a with
  | Num z0 ->
    (match z0 with
     | Z0 -> b
     | _ ->
       (match b with
        | Num z1 ->
          (match z1 with
           | Z0 -> a
           | _ -> Op (OMod, (Op (OAdd, a, b)), (Num (Zpos (XO XH)))))
        | _ -> Op (OMod, (Op (OAdd, a, b)), (Num (Zpos (XO XH))))))
  | _ ->
    (match b with
     | Num z0 ->
       (match z0 with
        | Z0 -> a
        | _ -> Op (OMod, (Op (OAdd, a, b)), (Num (Zpos (XO XH)))))
     | _ -> Op (OMod, (Op (OAdd, a, b)), (Num (Zpos (XO XH)))))

(** val run_of : term -> nat -> nat -> term **)

let run_of t0 low run =
  times0 (Op (OMod, (over t0 low), (Num (pow2 run)))) low

(** val xor_bits :
    term -> (nat -> term option) -> (nat -> term option) -> nat -> nat -> nat
    -> term option **)

let rec xor_bits t0 a b low run = function
| O -> Some (run_of t0 low run)
| S n1 ->
  (match b (add low run) with
   | Some tb ->
     (match tb with
      | Num z0 ->
        (match z0 with
         | Z0 -> xor_bits t0 a b low (S run) n1
         | _ ->
           (match a (add low run) with
            | Some ta ->
              (match xor_bits t0 a b (add (add low run) (S O)) O n1 with
               | Some rest ->
                 let here = Op (OAdd, (times0 (parity ta tb) (add low run)),
                   rest)
                 in
                 Some
                 (match run with
                  | O -> here
                  | S _ -> Op (OAdd, (run_of t0 low run), here))
               | None -> None)
            | None -> None))
      | _ ->
        (match a (add low run) with
         | Some ta ->
           (match xor_bits t0 a b (add (add low run) (S O)) O n1 with
            | Some rest ->
              let here = Op (OAdd, (times0 (parity ta tb) (add low run)),
                rest)
              in
              Some
              (match run with
               | O -> here
               | S _ -> Op (OAdd, (run_of t0 low run), here))
            | None -> None)
         | None -> None))
   | None -> None)

(** val bits_of : z -> nat option **)

let bits_of z0 =
  if (&&) (Z.ltb Z0 z0)
       (Z.leb z0 (Zpos (XO (XO (XO (XO (XO (XO (XO (XO (XO (XO (XO (XO (XO
         (XO (XO (XO (XO (XO (XO (XO (XO (XO (XO (XO
         XH))))))))))))))))))))))))))
  then Some (Z.to_nat (Z.log2_up z0))
  else None

(** val evident : expr -> nat option **)

let evident = function
| Int z0 -> if Z.leb Z0 z0 then bits_of (Z.add z0 (Zpos XH)) else None
| Calc (o, _, b) ->
  (match o with
   | OMod -> (match b with
              | Int d -> bits_of d
              | _ -> None)
   | _ -> None)
| Mask (_, m) -> if Z.leb Z0 m then bits_of (Z.add m (Zpos XH)) else None
| _ -> None

(** val width :
    layout -> expr -> (term * formula list) option -> (nat * formula list)
    option **)

let width l e t0 =
  match evident e with
  | Some w -> Some (w, [])
  | None ->
    (match t0 with
     | Some p ->
       let (t1, l0) = p in
       (match fold_numbers (extent l e) with
        | Num z0 ->
          (match bits_of z0 with
           | Some w ->
             Some (w,
               (app l0 ((Rel (RLe, (Num Z0), t1)) :: ((Rel (RLt, t1, (Num
                 (pow2 w)))) :: []))))
           | None -> None)
        | _ -> None)
     | None -> None)

(** val xor_term :
    spelling -> spelling -> nat -> formula list -> (term * formula list)
    option **)

let xor_term a b w l =
  match a.as_term with
  | Some p ->
    let (t0, k) = p in
    (match xor_bits t0 a.as_bit b.as_bit O O w with
     | Some u -> Some ((Op (OAdd, (times0 (over t0 w) w), u)), (app k l))
     | None -> None)
  | None -> None

(** val two :
    (term -> term -> term) -> spelling -> spelling -> (term * formula list)
    option **)

let two f a b =
  match a.as_term with
  | Some p ->
    let (t0, l) = p in
    (match b.as_term with
     | Some p0 -> let (u, k) = p0 in Some ((f t0 u), (app l k))
     | None -> None)
  | None -> None

(** val plainly : (term * formula list) option -> spelling **)

let plainly t0 =
  { as_term = t0; as_bit = (a_bit t0) }

(** val spelled : layout -> expr -> spelling **)

let rec spelled l = function
| Name x -> plainly (Some ((Var x), []))
| Int z0 ->
  { as_term = (Some ((Num z0), [])); as_bit = (fun k -> Some (Num
    (Z.b2z (Z.testbit z0 (Z.of_nat k))))) }
| Calc (o, a, b) ->
  let t0 = two (fun x x0 -> Op (o, x, x0)) (spelled l a) (spelled l b) in
  { as_term = t0; as_bit = (fun k ->
  match o with
  | ODiv ->
    (match b with
     | Int d ->
       (match log2_of d with
        | Some j -> (spelled l a).as_bit (add k j)
        | None -> a_bit t0 k)
     | _ -> a_bit t0 k)
  | OMod ->
    (match b with
     | Int d ->
       (match log2_of d with
        | Some j ->
          if Nat.ltb k j then (spelled l a).as_bit k else Some (Num Z0)
        | None -> a_bit t0 k)
     | _ -> a_bit t0 k)
  | _ -> a_bit t0 k) }
| Ceil (a, b) -> plainly (two ceiling0 (spelled l a) (spelled l b))
| Xor (a, b) ->
  let sa = spelled l a in
  let sb = spelled l b in
  { as_term =
  (match width l b sb.as_term with
   | Some p ->
     let (w, l0) = p in
     (match width l a sa.as_term with
      | Some p0 ->
        let (w', l') = p0 in
        if Nat.leb w w' then xor_term sa sb w l0 else xor_term sb sa w' l'
      | None -> xor_term sa sb w l0)
   | None ->
     (match width l a sa.as_term with
      | Some p -> let (w, l0) = p in xor_term sb sa w l0
      | None -> None)); as_bit = (fun k ->
  match sa.as_bit k with
  | Some t0 ->
    (match sb.as_bit k with
     | Some u -> Some (parity t0 u)
     | None -> None)
  | None -> None) }
| Mask (a, m) ->
  { as_term = None; as_bit = (fun k ->
    if Z.testbit m (Z.of_nat k) then (spelled l a).as_bit k else Some (Num Z0)) }
| Pair (a, b) ->
  plainly
    (two (fun t0 u -> Op (OAdd, (Op (OMul, t0, (extent l b))), u))
      (spelled l a) (spelled l b))
| Sized (a, _) -> spelled l a

(** val spell : layout -> expr -> (term * formula list) option **)

let spell l e =
  (spelled l e).as_term

(** val is_plain : layout -> expr -> bool **)

let rec is_plain l = function
| Name x -> (match axis_extent l.axes x with
             | Some _ -> false
             | None -> true)
| Int _ -> true
| Calc (_, a, b) -> (&&) (is_plain l a) (is_plain l b)
| Ceil (a, b) -> (&&) (is_plain l a) (is_plain l b)
| _ -> false

(** val has_lowest : layout -> expr -> bool **)

let rec has_lowest l = function
| Name _ -> true
| Int z0 -> Z.leb Z0 z0
| Calc (o, a, b) ->
  (match o with
   | OAdd -> (&&) (has_lowest l a) (has_lowest l b)
   | ODiv -> (&&) (has_lowest l a) (is_plain l b)
   | OMod -> is_plain l b
   | _ -> false)
| Pair (_, _) -> true
| _ -> false

(** val has_extent : layout -> expr -> bool **)

let rec has_extent l = function
| Name _ -> true
| Int z0 -> Z.leb Z0 z0
| Calc (o, a, b) ->
  (match o with
   | OSub -> (&&) (has_extent l a) (has_lowest l b)
   | ODiv -> (&&) (has_extent l a) (is_plain l b)
   | OMod -> is_plain l b
   | _ -> (&&) (has_extent l a) (has_extent l b))
| Ceil (_, _) -> false
| Xor (a, b) -> (&&) (has_extent l a) (has_extent l b)
| Mask (_, m) -> Z.leb Z0 m
| Pair (a, b) -> (&&) (has_extent l a) (has_extent l b)
| Sized (_, b) -> is_plain l b

(** val spell_conditions :
    layout -> (((rel * bool) * expr) * expr) list -> formula list option **)

let rec spell_conditions l = function
| [] -> Some []
| p :: l1 ->
  let (p0, b) = p in
  let (p1, a) = p0 in
  let (r, negated) = p1 in
  (match spell l a with
   | Some p2 ->
     let (t0, l2) = p2 in
     (match l2 with
      | [] ->
        (match spell l b with
         | Some p3 ->
           let (u, l3) = p3 in
           (match l3 with
            | [] ->
              (match spell_conditions l l1 with
               | Some fs ->
                 Some
                   ((if negated then Not (Rel (r, t0, u)) else Rel (r, t0, u)) :: fs)
               | None -> None)
            | _ :: _ -> None)
         | None -> None)
      | _ :: _ -> None)
   | None -> None)

(** val spell_parts :
    layout -> expr list -> ((term * term) list * formula list) option **)

let rec spell_parts l = function
| [] -> Some ([], [])
| e :: l1 ->
  (match spell l e with
   | Some p ->
     let (t0, k) = p in
     (match spell_parts l l1 with
      | Some p0 ->
        let (ts, ks) = p0 in Some (((t0, (extent l e)) :: ts), (app k ks))
      | None -> None)
   | None -> None)

type spoken = { range : formula list; first : term; place : term;
                size0 : term; pieces : (term * term) list;
                needs : formula list }

(** val speak : layout -> spoken option **)

let speak l =
  if negb (forallb (has_extent l) (l.coordinates :: (parts l.coordinates)))
  then None
  else (match spell_conditions l l.where_ with
        | Some cs ->
          (match spell l l.start with
           | Some p ->
             let (t0, l0) = p in
             (match l0 with
              | [] ->
                (match spell l l.coordinates with
                 | Some p0 ->
                   let (u, l1) = p0 in
                   (match spell_parts l (parts l.coordinates) with
                    | Some p1 ->
                      let (ps, k) = p1 in
                      Some { range =
                      (app
                        (map (fun x -> Rel (RLe, (Num (Zpos XH)), (Var x)))
                          l.symbols) cs); first = t0; place = (Op (OAdd, t0,
                      u)); size0 = (extent l l.coordinates); pieces = ps;
                      needs = (app l1 k) }
                    | None -> None)
                 | None -> None)
              | _ :: _ -> None)
           | None -> None)
        | None -> None)

(** val bounds : term -> term -> formula list **)

let bounds t0 high =
  (Rel (RLe, (Num Z0), t0)) :: ((Rel (RLt, t0, high)) :: [])

(** val inside : (positive * term) list -> formula list **)

let inside b =
  flat_map (fun a -> bounds (Var (fst a)) (snd a)) b

(** val slot_bounds : spoken -> positive -> formula list **)

let slot_bounds w s =
  (Rel (RLe, w.first, (Var s))) :: ((Rel (RLt, (Var s), (Op (OAdd, w.first,
    w.size0)))) :: [])

(** val index_name : layout -> positive -> bool **)

let index_name l x =
  existsb (Pos.eqb x) (map fst l.axes)

(** val taken : layout -> positive -> positive -> bool **)

let taken l s x =
  (||) (index_name l x) (Pos.eqb x s)

(** val enters :
    spoken -> positive -> (positive * term) list -> formula list -> theorem
    -> bool **)

let enters w s b more =
  says ((s, w.place) :: []) (app w.range (inside b))
    (app w.needs (app (slot_bounds w s) more))

(** val inner : spoken -> formula list **)

let inner w =
  flat_map (fun p -> bounds (fst p) (snd p)) w.pieces

(** val is_read : inverse -> formula list **)

let is_read i =
  app (map (fun a -> Rel (REq, (snd a), (Var (fst a)))) i.found) i.gaps

(** val index_term : inverse -> positive -> term **)

let index_term i x =
  match find_slot i.found x with
  | Some t0 -> t0
  | None -> Var x

(** val returns :
    spoken -> inverse -> formula list -> formula list -> theorem -> bool **)

let returns w i given wanted =
  says [] (app w.range (app (slot_bounds w i.slot_name) (app i.gaps given)))
    (app wanted
      (app (map (subst_formula (index_term i)) w.needs) ((Rel (REq,
        (subst (index_term i) w.place), (Var i.slot_name))) :: [])))

(** val inverse_bounds : inverse -> formula list **)

let inverse_bounds i =
  flat_map (fun p -> bounds (snd (fst p)) (snd (snd p))) (zip i.found i.box)

(** val inverse_low : inverse -> formula list **)

let inverse_low i =
  map (fun a -> Rel (RLe, (Num Z0), (snd a))) i.found

(** val inverse_high : layout -> inverse -> formula list **)

let inverse_high l i =
  map (fun p -> Rel (RLt, (snd (fst p)), (snd (snd p)))) (zip i.found l.axes)

(** val box_is_larger : layout -> inverse -> formula list **)

let box_is_larger l i =
  flat_map (fun p ->
    let (a, b) = p in
    if same (snd a) (snd b) then [] else (Rel (RLe, (snd a), (snd b))) :: [])
    (zip l.axes i.box)

(** val names_eqb : positive list -> positive list -> bool **)

let rec names_eqb l k =
  match l with
  | [] -> (match k with
           | [] -> true
           | _ :: _ -> false)
  | x :: l0 ->
    (match k with
     | [] -> false
     | y :: k0 -> (&&) (Pos.eqb x y) (names_eqb l0 k0))

(** val well_named : layout -> spoken -> positive -> bool **)

let well_named l w s =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) (negb (index_name l s))
              (forallb (fun a -> avoids (taken l s) (snd a)) l.axes))
            (avoids (taken l s) w.first)) (avoids (taken l s) w.size0))
        (avoids (Pos.eqb s) w.place))
      (forallb (fun f -> formula_avoids (Pos.eqb s) f) (app w.range w.needs)))
    (forallb (fun p ->
      (&&) (avoids (Pos.eqb s) (fst p)) (avoids (Pos.eqb s) (snd p)))
      w.pieces)

(** val well_named_inverse : layout -> spoken -> inverse -> bool **)

let well_named_inverse l w i =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) (names_eqb (map fst i.found) (map fst l.axes))
              (names_eqb (map fst i.box) (map fst l.axes)))
            (forallb (fun a ->
              match find_slot i.found (fst a) with
              | Some t0 -> term_eqb t0 (snd a)
              | None -> false) i.found))
          (forallb (fun a -> avoids (index_name l) (snd a)) i.found))
        (forallb (fun f -> formula_avoids (index_name l) f) i.gaps))
      (forallb (fun a -> avoids (taken l i.slot_name) (snd a)) i.box))
    (forallb (fun f -> formula_avoids (taken l i.slot_name) f) w.range)

(** val valued : (positive * z) list -> positive -> z **)

let valued l x =
  match find (fun p -> Pos.eqb x (fst p)) l with
  | Some p -> snd p
  | None -> Z0

(** val condition_holds :
    layout -> valuation -> (((rel * bool) * expr) * expr) -> bool **)

let condition_holds l v = function
| (p, b) ->
  let (p0, a) = p in
  let (r, negated) = p0 in
  let holds =
    match r with
    | REq -> Z.eqb (value l v a) (value l v b)
    | RLe -> Z.leb (value l v a) (value l v b)
    | RLt -> Z.ltb (value l v a) (value l v b)
  in
  if negated then negb holds else holds

(** val is_element : layout -> valuation -> bool **)

let is_element l v =
  (&&)
    ((&&) (forallb (fun x -> Z.leb (Zpos XH) (v x)) l.symbols)
      (forallb (condition_holds l v) l.where_))
    (forallb (fun a ->
      (&&) (Z.leb Z0 (v (fst a))) (Z.ltb (v (fst a)) (eval floor v (snd a))))
      l.axes)

(** val check_packs :
    layout -> (positive * z) list -> inverse -> theorem list -> bool **)

let check_packs l example i ths =
  match speak l with
  | Some w ->
    let s = i.slot_name in
    (&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&) ((&&) (is_element l (valued example)) (well_named l w s))
                (well_named_inverse l w i))
              (existsb (enters w s l.axes (app (inner w) (is_read i))) ths))
            (existsb (enters w s i.box (is_read i)) ths))
          (existsb (says [] w.range (box_is_larger l i)) ths))
        (existsb (returns w i [] (inverse_bounds i)) ths))
      (existsb (returns w i (inverse_high l i) (inverse_low i)) ths)
  | None -> false

(** val second : (positive * positive) list -> positive -> positive **)

let second other x =
  match find (fun p -> Pos.eqb x (fst p)) other with
  | Some p -> snd p
  | None -> x

(** val renamed : (positive * positive) list -> positive -> term **)

let renamed other x =
  Var (second other x)

(** val two_elements :
    layout -> spoken -> positive -> positive -> (positive * positive) list ->
    theorem -> bool **)

let two_elements l w s s2 other =
  let given = app w.range (inside l.axes) in
  says ((s, w.place) :: ((s2, (subst (renamed other) w.place)) :: []))
    (app given
      (app (map (subst_formula (renamed other)) given) ((Rel (REq, (Var s),
        (Var s2))) :: [])))
    (map (fun a -> Rel (REq, (Var (fst a)), (renamed other (fst a)))) l.axes)

(** val check_places :
    layout -> (positive * z) list -> positive -> positive ->
    (positive * positive) list -> theorem list -> bool **)

let check_places l example s s2 other ths =
  match speak l with
  | Some w ->
    let fresh = fun x ->
      (||) ((||) (Pos.eqb x s) (Pos.eqb x s2))
        (existsb (Pos.eqb x) (map snd other))
    in
    let given = app w.range (inside l.axes) in
    (&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&)
                ((&&)
                  ((&&)
                    ((&&)
                      ((&&)
                        ((&&) (is_element l (valued example))
                          (well_named l w s))
                        (names_eqb (map fst other) (map fst l.axes)))
                      (forallb (fun a ->
                        Pos.eqb
                          (second (map (fun p -> ((snd p), (fst p))) other)
                            (second other a)) a) (map fst l.axes)))
                    (negb (Pos.eqb s s2)))
                  (negb (existsb (Pos.eqb s) (map snd other))))
                (negb (existsb (Pos.eqb s2) (map snd other))))
              (forallb (formula_avoids fresh) given)) (avoids fresh w.place))
          (forallb (fun a -> negb (fresh (fst a))) l.axes))
        (existsb (enters w s l.axes (inner w)) ths))
      (existsb (two_elements l w s s2 other) ths)
  | None -> false
