(* Search for refutations. NOT trusted: [Kernel.check_refutation] checks every result, so a mistake
   here costs an answer, never soundness.

   The search is that of a small SMT solver, without learning:
   1. define quotients and remainders by numbers, and relate the digits of one number
   2. exact rational simplex over the constraints, with products, quotients and remainders as
      unknowns; infeasible rows give a Farkas combination
   3. alternatives with an impossible side are settled first, once for all that follows
   4. a model decides what to do next: decide a comparison of an alternative that it violates, add
      a congruence (equal operands, equal results) that it violates, cut off or branch on a fraction
   5. a refutation that does not need the last assumption refutes the other side too *)

module Big = Z
module Rat = Q
open Kernel
module Z = Big
module Q = Rat

exception Gave_up

(* Limits of the search for one question. *)
let most_pivots = 1_000_000
let most_nodes = 20_000
let most_depth = 2000
let most_cuts = 12 (* rounds in a row, before it branches: cuts may converge slowly *)
let cuts_at_once = 8
let seconds = ref 60.0

(* Numbers of Coq <-> numbers of OCaml *)

let rec big_of_pos = function
  | XH -> Z.one
  | XO p -> Z.shift_left (big_of_pos p) 1
  | XI p -> Z.succ (Z.shift_left (big_of_pos p) 1)
let to_big = function Z0 -> Z.zero | Zpos p -> big_of_pos p | Zneg p -> Z.neg (big_of_pos p)
let of_big = Reader.of_big
let rec nat_of_int n = if n = 0 then O else S (nat_of_int (n - 1))

module Monomials = Map.Make (struct
  type t = mono
  let compare a b = match mono_compare a b with Eq -> 0 | Lt -> -1 | Gt -> 1
end)

(* Exact simplex of the form "find x with rows(x) >= lower", after Dutertre and de Moura. Rows are
   constraints, in their order. A child node of the search adds rows to a copy of its parent's
   solved tableau, so that a few pivots suffice. *)

type tableau = {
  columns : int Monomials.t; (* the number of each monomial that occurs *)
  basic : int array; (* by tableau row: what it defines *)
  nonbasic : int array; (* by tableau column *)
  cells : Q.t array array;
  unknown_value : Q.t array;
  row_value : Q.t array;
  lower : Q.t array; (* by constraint *)
}

(* Unknown [u] is written as [2*u] and constraint [r] as [2*r + 1]. *)
let is_unknown x = x land 1 = 0
let number x = x lsr 1

let empty_tableau =
  { columns = Monomials.empty; basic = [||]; nonbasic = [||]; cells = [||]; unknown_value = [||];
    row_value = [||]; lower = [||] }

let value t x = if is_unknown x then t.unknown_value.(number x) else t.row_value.(number x)
let set_value t x v =
  if is_unknown x then t.unknown_value.(number x) <- v else t.row_value.(number x) <- v

let rec drop n l = if n = 0 then l else match l with _ :: l -> drop (n - 1) l | [] -> []

(* A copy of the tableau with the constraints of [c] that it does not have yet. *)
let extended t c =
  let old_rows = Array.length t.lower in
  let polys = drop old_rows c.constraints in
  let old_columns = Monomials.cardinal t.columns in
  let add (columns, n) (m, _) =
    if m = [] || Monomials.mem m columns then (columns, n) else (Monomials.add m n columns, n + 1) in
  let columns, n = List.fold_left (List.fold_left add) (t.columns, old_columns) polys in
  let fresh = n - old_columns and more = List.length polys in
  let zeros k = Array.make k Q.zero in
  let nonbasic = Array.append t.nonbasic (Array.init fresh (fun k -> 2 * (old_columns + k))) in
  let width = Array.length nonbasic in
  let old_cells = Array.map (fun row -> Array.append row (zeros fresh)) t.cells in
  let unknown_value = Array.append t.unknown_value (zeros fresh) in
  (* Where each unknown is: a column, or the tableau row that defines it. *)
  let place = Array.make n (`Column 0) in
  Array.iteri (fun j x -> if is_unknown x then place.(number x) <- `Column j) nonbasic;
  Array.iteri (fun i x -> if is_unknown x then place.(number x) <- `Row i) t.basic;
  let row_of p =
    let row = zeros width in
    let add_part (m, c) =
      if m <> [] then begin
        let c = Q.of_bigint (to_big c) in
        match place.(Monomials.find m columns) with
        | `Column j -> row.(j) <- Q.add row.(j) c
        | `Row i ->
          Array.iteri (fun j q -> if Q.sign q <> 0 then row.(j) <- Q.add row.(j) (Q.mul c q))
            old_cells.(i)
      end in
    List.iter add_part p;
    row in
  let value_of p =
    List.fold_left (fun sum (m, c) ->
      if m = [] then sum
      else
        let q = unknown_value.(Monomials.find m columns) in
        Q.add sum (Q.mul (Q.of_bigint (to_big c)) q)) Q.zero p in
  let lower_of p =
    match List.assoc_opt [] p with Some c -> Q.neg (Q.of_bigint (to_big c)) | None -> Q.zero in
  let rows f = Array.of_list (List.map f polys) in
  { columns; nonbasic; unknown_value;
    basic = Array.append t.basic (Array.init more (fun k -> (2 * (old_rows + k)) + 1));
    cells = Array.append old_cells (rows row_of);
    row_value = Array.append t.row_value (rows value_of);
    lower = Array.append t.lower (rows lower_of) }

let pivots = ref 0
let deadline = ref infinity

let violated t x = (not (is_unknown x)) && Q.lt t.row_value.(number x) t.lower.(number x)

(* Bland's rule (the smallest number first) never cycles. *)
let leaving t =
  let found = ref (-1) in
  Array.iteri (fun i x ->
    if violated t x && (!found < 0 || x < t.basic.(!found)) then found := i) t.basic;
  !found

let entering t i =
  let found = ref (-1) in
  Array.iteri (fun j x ->
    let sign = Q.sign t.cells.(i).(j) in
    let at_bound () = Q.leq t.row_value.(number x) t.lower.(number x) in
    let usable = sign > 0 || (sign < 0 && (is_unknown x || not (at_bound ()))) in
    if usable && (!found < 0 || x < t.nonbasic.(!found)) then found := j) t.nonbasic;
  !found

let pivot t i j =
  let row = t.cells.(i) and b = t.basic.(i) and x = t.nonbasic.(j) in
  let bound = t.lower.(number b) in
  let step = Q.div (Q.sub bound (value t b)) row.(j) in
  set_value t b bound;
  set_value t x (Q.add (value t x) step);
  Array.iteri (fun k other ->
    if k <> i && Q.sign other.(j) <> 0 then
      let y = t.basic.(k) in
      set_value t y (Q.add (value t y) (Q.mul other.(j) step))) t.cells;
  (* b = a*x + rest, so x = b/a - rest/a. *)
  let inverse = Q.inv row.(j) in
  Array.iteri (fun c q ->
    if c <> j && Q.sign q <> 0 then row.(c) <- Q.neg (Q.mul q inverse)) row;
  row.(j) <- inverse;
  Array.iteri (fun k other ->
    if k <> i && Q.sign other.(j) <> 0 then begin
      let factor = other.(j) in
      Array.iteri (fun c q ->
        if c <> j && Q.sign q <> 0 then other.(c) <- Q.add other.(c) (Q.mul factor q)) row;
      other.(j) <- Q.mul factor inverse
    end) t.cells;
  t.nonbasic.(j) <- b;
  t.basic.(i) <- x

type outcome =
  | Conflict of (int * Q.t) list (* constraints, each times a number, sum to a negative constant *)
  | Feasible of tableau

(* Solve the constraints of [c], starting from the tableau of some of them. *)
let feasible parent c : outcome =
  let t = extended parent c in
  let rec run () =
    let i = leaving t in
    if i < 0 then Feasible t
    else begin
      incr pivots;
      if !pivots > most_pivots || Sys.time () > !deadline then raise Gave_up;
      let j = entering t i in
      if j >= 0 then (pivot t i j; run ())
      else begin
        let parts = ref [ (number t.basic.(i), Q.one) ] in
        Array.iteri (fun j x ->
          let q = t.cells.(i).(j) in
          if Q.sign q <> 0 then parts := (number x, Q.neg q) :: !parts) t.nonbasic;
        Conflict !parts
      end
    end in
  run ()

(* The largest value of a polynomial among the fractions that satisfy all rows, if there is one:
   primal simplex on a copy, where the objective is one more row without a bound. *)
let maximum t0 p =
  let c = { constraints = List.init (Array.length t0.lower) (fun _ -> []) @ [ p ]; alternatives = [] } in
  let t = extended t0 c in
  let goal = Array.length t.basic - 1 in
  let constant = Q.neg t.lower.(Array.length t.lower - 1) in
  let rec run () =
    incr pivots;
    if !pivots > most_pivots || Sys.time () > !deadline then raise Gave_up;
    let column = ref (-1) in
    Array.iteri (fun j x ->
      let sign = Q.sign t.cells.(goal).(j) in
      if (sign > 0 || (sign < 0 && is_unknown x)) && (!column < 0 || x < t.nonbasic.(!column))
      then column := j) t.nonbasic;
    if !column < 0 then Some (Q.add constant t.row_value.(number t.basic.(goal)))
    else begin
      let j = !column in
      let sign = Q.of_int (Q.sign t.cells.(goal).(j)) in
      (* The first row that reaches its bound when the column moves that way. *)
      let row = ref (-1) and least = ref Q.inf in
      Array.iteri (fun i x ->
        let slope = Q.mul sign t.cells.(i).(j) in
        if i <> goal && (not (is_unknown x)) && Q.sign slope < 0 then begin
          let room = Q.div (Q.sub t.row_value.(number x) t.lower.(number x)) (Q.neg slope) in
          let order = Q.compare room !least in
          if order < 0 || (order = 0 && x < t.basic.(!row)) then (row := i; least := room)
        end) t.basic;
      if !row < 0 then None else (pivot t !row j; run ())
    end in
  run ()

let point t mono =
  if mono = [] then Q.one
  else
    match Monomials.find_opt mono t.columns with
    | Some u -> t.unknown_value.(u)
    | None -> Q.zero

let is_integer q = Z.equal (Q.den q) Z.one

(* An unknown with a fraction is a sum of rows at their bounds. The fractional parts of its
   coefficients are a combination of rows whose rounding cuts off this point (Gomory). *)
let gomory_cuts t =
  let fraction q = Q.sub q (Q.of_bigint (Z.fdiv (Q.num q) (Q.den q))) in
  let cut row part =
    let usable = ref true and parts = ref [] in
    Array.iteri (fun j x ->
      if not (is_integer row.(j)) then
        if is_unknown x then usable := false else parts := (number x, part row.(j)) :: !parts)
      t.nonbasic;
    if not !usable || !parts = [] then []
    else
      let d = List.fold_left (fun d (_, q) -> Z.lcm d (Q.den q)) Z.one !parts in
      [ (List.map (fun (r, q) -> (r, Q.mul q (Q.of_bigint d))) !parts, d) ] in
  let of_row i x =
    if is_unknown x && not (is_integer (value t x)) then
      cut t.cells.(i) (fun q -> fraction (Q.neg q)) @ cut t.cells.(i) fraction
    else [] in
  List.concat (List.mapi of_row (Array.to_list t.basic))

let rec take n l = match l with x :: l when n > 0 -> x :: take (n - 1) l | _ -> []

(* Refutations as they are found: those of the kernel, with integers that are quick to compare.
   Constraints and alternatives are numbered in the order in which they were added. *)
type proof =
  | Farkas of (int * Z.t) list
  | Cut of (int * Z.t) list * Z.t * proof
  | Split of int * proof * proof
  | Branch of term * proof * proof
  | Divide of term * Z.t * proof
  | Congruence of op * (term * term) * (term * term) * proof list * proof

let rec export = function
  | Farkas l -> Kernel.Farkas (parts_of l)
  | Cut (l, d, k) -> Kernel.Cut (parts_of l, of_big d, export k)
  | Split (i, k, k') -> Kernel.Split (nat_of_int i, export k, export k')
  | Branch (t, k, k') -> Kernel.Branch (t, export k, export k')
  | Divide (a, b, k) -> Kernel.Divide (a, of_big b, export k)
  | Congruence (o, (a, a'), (b, b'), [ k1; k2; k3; k4 ], k) ->
    Kernel.Congruence (o, a, a', b, b', export k1, export k2, export k3, export k4, export k)
  | Congruence _ -> assert false
and parts_of l = List.map (fun (i, z) -> (nat_of_int i, of_big z)) l

exception Needed

(* The refutation without what [inner] has and [outer] has not, if it does not need that: then an
   assumption was not to blame, and its other side need not be looked at. *)
let without outer inner proof =
  let shift low high i = if i < low then i else if i < high then raise Needed else i - high + low in
  let constraint_ = shift (List.length outer.constraints) (List.length inner.constraints) in
  let alternative = shift (List.length outer.alternatives) (List.length inner.alternatives) in
  let parts = List.map (fun (i, z) -> (constraint_ i, z)) in
  let rec of_proof = function
    | Farkas l -> Farkas (parts l)
    | Cut (l, d, k) -> Cut (parts l, d, of_proof k)
    | Split (i, k, k') -> Split (alternative i, of_proof k, of_proof k')
    | Branch (t, k, k') -> Branch (t, of_proof k, of_proof k')
    | Divide (a, b, k) -> Divide (a, b, of_proof k)
    | Congruence (o, a, b, l, k) -> Congruence (o, a, b, List.map of_proof l, of_proof k) in
  match of_proof proof with found -> Some found | exception Needed -> None

(* Refute both [left] and [right], which are [c] with an assumption each, and join the proofs. *)
let either c (left, prove_left) (right, prove_right) join =
  let one = prove_left left in
  match without c left one with
  | Some found -> found
  | None ->
    let other = prove_right right in
    match without c right other with Some found -> found | None -> join one other

let farkas parts =
  let d = List.fold_left (fun d (_, q) -> Z.lcm d (Q.den q)) Z.one parts in
  List.filter (fun (_, z) -> Z.sign z <> 0)
    (List.map (fun (i, q) -> (i, Q.num (Q.mul q (Q.of_bigint d)))) parts)

let conflicts t c = match feasible t c with Conflict _ -> true | Feasible _ -> false
let linear t c =
  match feasible t c with Conflict l -> Farkas (farkas l) | Feasible _ -> raise Gave_up

(* Formulas at a model *)

let term_value model t =
  let add sum (m, c) = Q.add sum (Q.mul (Q.of_bigint (to_big c)) (model m)) in
  List.fold_left add Q.zero (normalize t)

let rec truth model = function
  | Rel (r, a, b) ->
    let order = Q.compare (term_value model a) (term_value model b) in
    (match r with REq -> order = 0 | RLe -> order <= 0 | RLt -> order < 0)
  | And (f, g) -> truth model f && truth model g
  | Or (f, g) -> truth model f || truth model g
  | Imp (f, g) -> (not (truth model f)) || truth model g
  | Not f -> not (truth model f)

let rec subterms t found =
  match t with Op (_, a, b) -> subterms a (subterms b (t :: found)) | _ -> found
let rec subterms_of_formula f found =
  match f with
  | Rel (_, a, b) -> subterms a (subterms b found)
  | And (f, g) | Or (f, g) | Imp (f, g) -> subterms_of_formula f (subterms_of_formula g found)
  | Not f -> subterms_of_formula f found

(* All pairs of terms with one operator; products in both orders. *)
type pair = { operator : op; left : term * term; right : term * term; whole : term * term }

let rec pairs_of = function
  | (Op (o, a, b) as t) :: rest ->
    let pair = function
      | Op (o', a', b') as t' when o = o' ->
        let one = { operator = o; left = (a, a'); right = (b, b'); whole = (t, t') } in
        if o = OMul then [ one; { one with left = (a, b'); right = (b, a') } ] else [ one ]
      | _ -> [] in
    List.concat_map pair rest @ pairs_of rest
  | _ :: rest -> pairs_of rest
  | [] -> []

(* The term that is not negative where a comparison holds, and negative elsewhere. *)
let rec comparison positive = function
  | Rel (RLe, a, b) ->
    Some (if positive then Op (OSub, b, a) else Op (OSub, Op (OSub, a, b), Num (Zpos XH)))
  | Rel (RLt, a, b) ->
    Some (if positive then Op (OSub, Op (OSub, b, a), Num (Zpos XH)) else Op (OSub, a, b))
  | Not f -> comparison (not positive) f
  | _ -> None

(* The search. [settled] are numbers of alternatives of which a side was assumed already. *)

type counts = {
  mutable splits : int;
  mutable branches : int;
  mutable cuts : int;
  mutable congruences : int;
  mutable divisions : int;
}
let counts = { splits = 0; branches = 0; cuts = 0; congruences = 0; divisions = 0 }
let nodes = ref 0

let violated_congruence pairs t c =
  let model = point t in
  let same (x, y) = Q.equal (term_value model x) (term_value model y) in
  let equal (x, y) = conflicts t (add_lt x y c) && conflicts t (add_lt y x c) in
  List.find_opt (fun p ->
    same p.left && same p.right && (not (same p.whole)) && equal p.left && equal p.right) pairs

(* [tidy] is the first alternative that was not yet looked at for an impossible side. *)
let rec solve pairs ?(cuts = most_cuts) ?(settled = []) ?tidy depth parent c : proof =
  incr nodes;
  if depth <= 0 || !nodes > most_nodes then raise Gave_up;
  match feasible parent c with
  | Conflict l -> Farkas (farkas l)
  | Feasible t ->
    let model = point t in
    let unsettled =
      List.filter (fun (i, _, _) -> not (List.mem i settled))
        (List.mapi (fun i (f, g) -> (i, f, g)) c.alternatives) in
    let branch t0 =
      let prove = solve pairs ~settled (depth - 1) t in
      either c (add_le (Num Z0) t0 c, prove) (add_lt t0 (Num Z0) c, prove) (fun above below ->
        counts.branches <- counts.branches + 1;
        Branch (t0, above, below)) in
    let split (i, f, g) =
      (* A comparison is decided for all alternatives with it. Otherwise the second side would not
         know that the first one is false. *)
      match comparison true f, comparison true g with
      | Some t0, _ | None, Some t0 -> branch t0
      | None, None ->
      let prove = solve pairs ~settled:(i :: settled) (depth - 1) t in
      either c (add_formula true f c, prove) (add_formula true g c, prove) (fun left right ->
        counts.splits <- counts.splits + 1;
        Split (i, left, right)) in
    let impossible h = (not (truth model h)) && conflicts t (add_formula true h c) in
    let settle (i, f, g) from =
      let prove = solve pairs ~settled:(i :: settled) ~tidy:from (depth - 1) t in
      either c (add_formula true f c, prove) (add_formula true g c, prove) (fun left right ->
        counts.splits <- counts.splits + 1;
        Split (i, left, right)) in
    let looked_at = Option.value tidy ~default:max_int in
    match
      List.find_opt (fun (i, f, g) -> i >= looked_at && (impossible f || impossible g)) unsettled
    with
    | Some ((i, _, _) as alternative) -> settle alternative (i + 1)
    | None ->
    (* Only alternatives that the model violates have to be split. One with an impossible side
       does not double the work: it comes first. *)
    let violated = List.filter (fun (_, f, g) -> not (truth model f || truth model g)) unsettled in
    let one_sided (_, f, g) =
      conflicts t (add_formula true f c) || conflicts t (add_formula true g c) in
    match List.find_opt one_sided violated with
    | Some ((i, _, _) as alternative) -> settle alternative looked_at
    | None ->
    match violated_congruence pairs t c with
    | Some p ->
      let (a, a'), (b, b') = (p.left, p.right) in
      let less x y = linear t (add_lt x y c) in
      let equal = add_eq (Op (p.operator, a, b)) (Op (p.operator, a', b')) c in
      let rest = solve pairs ~cuts ~settled (depth - 1) t equal in
      counts.congruences <- counts.congruences + 1;
      Congruence (p.operator, p.left, p.right, [ less a a'; less a' a; less b b'; less b' b ], rest)
    | None ->
    match violated with
    | alternative :: _ -> split alternative
    | [] ->
      let has_fraction (m, _) = not (is_integer (model m)) in
      match List.find_map (List.find_opt has_fraction) c.constraints with
      | None -> (match unsettled with first :: _ -> settle first looked_at | [] -> raise Gave_up)
      | Some (m, _) ->
        match List.find_opt one_sided unsettled with
        | Some alternative -> settle alternative looked_at
        | None ->
        match if cuts > 0 then take cuts_at_once (gomory_cuts t) else [] with
        | _ :: _ as found ->
          let rec apply c = function
            | [] -> solve pairs ~cuts:(cuts - 1) ~settled depth t c
            | (parts, d) :: rest ->
              let parts = List.map (fun (i, q) -> (i, Q.num q)) parts in
              let sum = combine (parts_of parts) c.constraints in
              match Option.bind sum (divide_and_round (of_big d)) with
              | Some cut ->
                let k = apply (add_constraint cut c) rest in
                counts.cuts <- counts.cuts + 1;
                Cut (parts, d, k)
              | None -> apply c rest in
          apply c found
        | [] ->
        (* Branches on an unknown without bounds may never end, so alternatives come first. *)
        match unsettled with
        | (i, f, g) :: _ -> settle (i, f, g) looked_at
        | [] ->
          let q = model m in
          let above = Z.succ (Z.fdiv (Q.num q) (Q.den q)) in
          let bound = Op (OSub, mono_term m, Num (of_big above)) in
          branch bound

(* What is derived before the search: definitions of quotients and remainders by numbers, and how
   the digits of one number lie to each other. Without it, branches would have to find out that
   [x%64/16] and [x/16] differ by a multiple of 4. *)

type preparation =
  | Define_division of term * z
  | Bound of term (* the integers between which the fractions lie *)
  | Not_below of term (* [0 <= t], where [t <= -1] is impossible even for fractions *)

let ( *: ) k t = Op (OMul, Num (of_big k), t)
let minus a b = Op (OSub, a, b)
let quotient a b = Op (ODiv, a, Num (of_big b))
let divides a b = Z.sign (Z.rem b a) = 0

(* [x/4%8] is a digit of [x]: the root, from 4 to 32. Without an end it is a quotient. *)
let rec digit t =
  match t with
  | Op (OMod, a, Num (Zpos _ as m)) ->
    let root, from, until = digit a in
    let ends = Z.mul from (to_big m) in
    (match until with
     | Some h when not (divides ends h) -> (t, Z.one, None)
     | _ -> (root, from, Some ends))
  | Op (ODiv, a, Num (Zpos _ as b)) ->
    let root, from, until = digit a in
    let starts = Z.mul from (to_big b) in
    (match until with
     | Some h when not (divides starts h) -> (t, Z.one, None)
     | _ -> (root, starts, until))
  | _ -> (t, Z.one, None)

let preparations ~compare_all terms =
  let divided = function
    | Op ((ODiv | OMod), a, Num (Zpos _ as b)) -> Some (a, to_big b)
    | _ -> None in
  let rec size = function Op (_, a, b) -> 1 + size a + size b | _ -> 1 in
  let divisions =
    List.stable_sort (fun (a, _) (a', _) -> compare (size a) (size a'))
      (List.sort_uniq compare (List.filter_map divided terms)) in
  (* Where digits of each root begin or end. *)
  let places root =
    let of_division (a, b) =
      let other, from, until = digit a in
      if other <> root then [] else Z.mul from b :: from :: Option.to_list until in
    List.filter (fun z -> Z.gt z Z.one)
      (List.sort_uniq Z.compare (List.concat_map of_division divisions)) in
  let defined = Hashtbl.create 17 in
  let define a b =
    if Hashtbl.mem defined (a, b) then []
    else (Hashtbl.add defined (a, b) (); [ Define_division (a, of_big b); Bound (quotient a b) ]) in
  let rec chain root = function
    | b :: (b' :: _ as rest) when divides b b' ->
      let ratio = Z.div b' b in
      let digit = minus (quotient root b) (ratio *: quotient root b') in
      Not_below digit :: Not_below (minus (Num (of_big (Z.pred ratio))) digit) :: chain root rest
    | _ :: rest -> chain root rest
    | [] -> [] in
  let roots = Hashtbl.create 17 in
  let prepare (a, b) =
    let root, from, until = digit a in
    let ends = Z.mul from b in
    let of_root =
      if Hashtbl.mem roots root then []
      else begin
        Hashtbl.add roots root ();
        List.concat_map (define root) (places root) @ chain root (places root)
      end in
    let own = define a b in
    let linked =
      (* The quotient by [b] of a digit up to [h]: the root's quotient without its part above. *)
      match until with
      | Some h when divides ends h ->
        let t = minus (quotient root ends) ((Z.div h ends) *: quotient root h) in
        [ Not_below (minus (quotient a b) t); Not_below (minus t (quotient a b)) ]
      | None when a <> root ->
        let t = quotient root ends in
        [ Not_below (minus (quotient a b) t); Not_below (minus t (quotient a b)) ]
      | _ -> [] in
    of_root @ own @ linked in
  let prepared = List.concat_map prepare divisions in
  (* Quotients of two numbers that are close are equal or neighbours. *)
  let rec pairs = function
    | q :: rest ->
      List.concat_map (fun q' ->
        let t = minus q q' in
        [ Not_below t; Not_below (minus (Num Z0) t); Not_below (minus t (Num (of_big Z.minus_one)));
          Not_below (minus (Num (of_big Z.one)) t) ]) rest @ pairs rest
    | [] -> [] in
  let quotients = List.map (fun (a, b) -> quotient a b) divisions in
  if compare_all then prepared @ pairs (take 16 quotients) else prepared

let find ((premises, goal) as q : question) : Kernel.refutation =
  pivots := 0;
  nodes := 0;
  deadline := Sys.time () +. !seconds;
  let found = List.fold_right subterms_of_formula premises (subterms_of_formula goal []) in
  let terms = List.sort_uniq compare found in
  let opaque = function
    | Op ((OMul | ODiv | OMod), a, b) ->
      (match a, b with Num _, _ | _, Num _ -> false | _ -> true)
    | _ -> false in
  let pairs = pairs_of (List.filter opaque terms) in
  let rec prepared t c = function
    | [] -> solve pairs ~tidy:0 most_depth t c
    | Define_division (a, b) :: rest ->
      let defined = add_division a b c in
      let k =
        match feasible t defined with
        | Conflict l -> Farkas (farkas l)
        | Feasible t -> prepared t defined rest in
      counts.divisions <- counts.divisions + 1;
      Divide (a, to_big b, k)
    | Bound a :: rest ->
      let highest p =
        Option.map (fun q -> Z.fdiv (Q.num q) (Q.den q)) (maximum t p) in
      let p = normalize a in
      let high = highest p and low = highest (poly_scale (of_big Z.minus_one) p) in
      let upper z = Not_below (minus (Num (of_big z)) a) in
      let lower z = Not_below (minus a (Num (of_big (Z.neg z)))) in
      let list f z = Option.to_list (Option.map f z) in
      prepared t c (list lower low @ list upper high @ rest)
    | Not_below a :: rest ->
      match feasible t (add_lt a (Num Z0) c) with
      | Conflict l ->
        let k = prepared t (add_le (Num Z0) a c) rest in
        counts.branches <- counts.branches + 1;
        Branch (a, k, Farkas (farkas l))
      | Feasible _ -> prepared t c rest in
  let start = initial_context q in
  (* Many questions are contradictions without any division. *)
  export @@
  match feasible empty_tableau start with
  | Conflict l -> Farkas (farkas l)
  | Feasible t ->
    (* The second attempt costs more: it has facts that few questions need. *)
    try prepared t start (preparations ~compare_all:false terms)
    with Gave_up when Sys.time () < !deadline ->
      nodes := 0;
      prepared t start (preparations ~compare_all:true terms)
