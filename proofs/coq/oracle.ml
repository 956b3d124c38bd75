(* Search for refutations. NOT trusted: [Kernel.check_refutation] checks every result, so a mistake
   here costs an answer, never soundness.

   The search is that of a small SMT solver, without learning:
   1. exact rational simplex over the constraints, with products, quotients and remainders as
      unknowns; infeasible rows give a Farkas combination
   2. a model decides what to do next: split an alternative that it violates, add a congruence
      (equal operands, equal results) that it violates, cut off or branch on a fraction *)

module Big = Z
module Rat = Q
open Kernel
module Z = Big
module Q = Rat

exception Gave_up

(* Limits of the search for one question. *)
let most_pivots = 1_000_000
let most_nodes = 20_000
let most_depth = 150
let most_cuts = 12 (* in a row, before it branches: cuts may converge slowly *)
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

(* Exact simplex of the form "find x with rows(x) >= lower", after Dutertre and de Moura. *)

type outcome =
  | Conflict of (int * Q.t) list (* rows, each times a number, sum to a negative constant *)
  | Model of (mono -> Q.t) * ((int * Q.t) list * Z.t) list
    (* a rational point; and Gomory cuts that it violates: a combination of rows, a divisor *)

let pivots = ref 0
let deadline = ref infinity

let is_constant = function [] | [ ([], _) ] -> true | _ -> false

let feasible (polys : poly list) : outcome =
  let columns = ref Monomials.empty and n = ref 0 in
  let add_column (m, _) =
    if m <> [] && not (Monomials.mem m !columns) then begin
      columns := Monomials.add m !n !columns;
      incr n
    end in
  List.iter (List.iter add_column) polys;
  let n = !n and rows = Array.of_list polys in
  let m = Array.length rows in
  let tableau = Array.make_matrix m n Q.zero and lower = Array.make m Q.zero in
  let impossible = ref None in
  let fill i p =
    List.iter (fun (mono, c) ->
      let c = Q.of_bigint (to_big c) in
      if mono = [] then lower.(i) <- Q.neg c
      else tableau.(i).(Monomials.find mono !columns) <- c) p;
    if is_constant p && Q.sign lower.(i) > 0 then impossible := Some i in
  Array.iteri fill rows;
  match !impossible with
  | Some i -> Conflict [ (i, Q.one) ]
  | None ->
    (* Unknowns are numbered 0 to n-1, rows n to n+m-1. [basic.(i)] is the unknown or row that
       tableau row i defines, [nonbasic.(j)] the one of column j. *)
    let nonbasic = Array.init n Fun.id and basic = Array.init m (fun i -> n + i) in
    let value = Array.make (n + m) Q.zero in
    let violated i = basic.(i) >= n && Q.lt value.(basic.(i)) lower.(basic.(i) - n) in
    (* Bland's rule (the smallest number first) never cycles. *)
    let leaving () =
      let found = ref (-1) in
      for i = 0 to m - 1 do
        if violated i && (!found < 0 || basic.(i) < basic.(!found)) then found := i
      done;
      !found in
    let entering i =
      let found = ref (-1) in
      for j = 0 to n - 1 do
        let x = nonbasic.(j) and sign = Q.sign tableau.(i).(j) in
        let usable = sign > 0 || (sign < 0 && (x < n || Q.gt value.(x) lower.(x - n))) in
        if usable && (!found < 0 || x < nonbasic.(!found)) then found := j
      done;
      !found in
    let pivot i j =
      let row = tableau.(i) in
      let b = basic.(i) and x = nonbasic.(j) in
      let step = Q.div (Q.sub lower.(b - n) value.(b)) row.(j) in
      value.(b) <- lower.(b - n);
      value.(x) <- Q.add value.(x) step;
      for k = 0 to m - 1 do
        if k <> i && Q.sign tableau.(k).(j) <> 0 then
          value.(basic.(k)) <- Q.add value.(basic.(k)) (Q.mul tableau.(k).(j) step)
      done;
      (* b = a*x + rest, so x = b/a - rest/a. *)
      let inverse = Q.inv row.(j) in
      for c = 0 to n - 1 do
        if c <> j && Q.sign row.(c) <> 0 then row.(c) <- Q.neg (Q.mul row.(c) inverse)
      done;
      row.(j) <- inverse;
      for k = 0 to m - 1 do
        let other = tableau.(k) in
        if k <> i && Q.sign other.(j) <> 0 then begin
          let factor = other.(j) in
          for c = 0 to n - 1 do
            if c <> j && Q.sign row.(c) <> 0 then
              other.(c) <- Q.add other.(c) (Q.mul factor row.(c))
          done;
          other.(j) <- Q.mul factor inverse
        end
      done;
      nonbasic.(j) <- b;
      basic.(i) <- x in
    let conflict i =
      let found = ref [ (basic.(i) - n, Q.one) ] in
      for j = 0 to n - 1 do
        let c = tableau.(i).(j) in
        if Q.sign c <> 0 then found := (nonbasic.(j) - n, Q.neg c) :: !found
      done;
      Conflict !found in
    (* An unknown with a fraction is a sum of rows at their bounds. The fractional parts of its
       coefficients are a combination of rows whose rounding cuts off this point. *)
    let cuts () =
      let found = ref [] in
      let cut i fraction =
        let usable = ref true and parts = ref [] in
        for j = 0 to n - 1 do
          let c = tableau.(i).(j) in
          if not (Z.equal (Q.den c) Z.one) then
            if nonbasic.(j) < n then usable := false
            else parts := (nonbasic.(j) - n, fraction c) :: !parts
        done;
        if !usable && !parts <> [] then begin
          let d = List.fold_left (fun d (_, q) -> Z.lcm d (Q.den q)) Z.one !parts in
          found := (List.map (fun (r, q) -> (r, Q.mul q (Q.of_bigint d))) !parts, d) :: !found
        end in
      let fraction c = Q.sub c (Q.of_bigint (Z.fdiv (Q.num c) (Q.den c))) in
      for i = m - 1 downto 0 do
        if basic.(i) < n && not (Z.equal (Q.den value.(basic.(i))) Z.one) then begin
          cut i fraction;
          cut i (fun c -> fraction (Q.neg c))
        end
      done;
      !found in
    let point mono =
      if mono = [] then Q.one
      else
        match Monomials.find_opt mono !columns with Some j -> value.(j) | None -> Q.zero in
    let rec run () =
      let i = leaving () in
      if i < 0 then Model (point, cuts ())
      else begin
        incr pivots;
        if !pivots > most_pivots || Sys.time () > !deadline then raise Gave_up;
        let j = entering i in
        if j < 0 then conflict i else (pivot i j; run ())
      end in
    run ()

let farkas parts =
  let d = List.fold_left (fun d (_, q) -> Z.lcm d (Q.den q)) Z.one parts in
  List.map (fun (i, q) -> (nat_of_int i, of_big (Q.num (Q.mul q (Q.of_bigint d))))) parts

let conflicts c = match feasible c.constraints with Conflict _ -> true | Model _ -> false
let linear c =
  match feasible c.constraints with Conflict l -> Farkas (farkas l) | Model _ -> raise Gave_up

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

let violated_congruence pairs c model =
  let same (x, y) = Q.equal (term_value model x) (term_value model y) in
  let equal (x, y) = conflicts (add_lt x y c) && conflicts (add_lt y x c) in
  List.find_opt (fun p ->
    same p.left && same p.right && (not (same p.whole)) && equal p.left && equal p.right) pairs

let rec solve pairs ?(cuts = most_cuts) ?(settled = []) depth c : refutation =
  incr nodes;
  if depth <= 0 || !nodes > most_nodes then raise Gave_up;
  match feasible c.constraints with
  | Conflict l -> Farkas (farkas l)
  | Model (model, gomory) ->
    let unsettled =
      List.filter (fun (i, _, _) -> not (List.mem i settled))
        (List.mapi (fun i (f, g) -> (i, f, g)) c.alternatives) in
    let split (i, f, g) =
      let side h = solve pairs ~settled:(i :: settled) (depth - 1) (add_formula true h c) in
      let left = side f in
      let right = side g in
      counts.splits <- counts.splits + 1;
      Split (nat_of_int i, left, right) in
    (* An alternative with an impossible side does not double the work: split it first. *)
    let one_sided (_, f, g) =
      conflicts (add_formula true f c) || conflicts (add_formula true g c) in
    match List.find_opt one_sided unsettled with
    | Some alternative -> split alternative
    | None ->
    match violated_congruence pairs c model with
    | Some p ->
      let (a, a'), (b, b') = (p.left, p.right) in
      let less x y = linear (add_lt x y c) in
      let equal = add_eq (Op (p.operator, a, b)) (Op (p.operator, a', b')) c in
      let rest = solve pairs ~cuts ~settled (depth - 1) equal in
      counts.congruences <- counts.congruences + 1;
      Congruence (p.operator, a, a', b, b', less a a', less a' a, less b b', less b' b, rest)
    | None ->
    match List.find_opt (fun (_, f, g) -> not (truth model f || truth model g)) unsettled with
    | Some alternative -> split alternative
    | None ->
      let fraction (m, _) = not (Z.equal (Q.den (model m)) Z.one) in
      match List.find_map (List.find_opt fraction) c.constraints, gomory with
      | _, (parts, d) :: _ when cuts > 0 ->
        let parts = List.map (fun (i, q) -> (nat_of_int i, of_big (Q.num q))) parts in
        (match Option.bind (combine parts c.constraints) (divide_and_round (of_big d)) with
         | Some cut ->
           let rest = solve pairs ~cuts:(cuts - 1) ~settled depth (add_constraint cut c) in
           counts.cuts <- counts.cuts + 1;
           Cut (parts, of_big d, rest)
         | None -> raise Gave_up)
      | Some (m, _), _ ->
        let q = model m in
        let above = Z.succ (Z.fdiv (Q.num q) (Q.den q)) in
        let t = Op (OSub, mono_term m, Num (of_big above)) in
        let right = solve pairs ~settled (depth - 1) (add_le (Num Z0) t c) in
        let left = solve pairs ~settled (depth - 1) (add_lt t (Num Z0) c) in
        counts.branches <- counts.branches + 1;
        Branch (t, right, left)
      | None, _ -> (match unsettled with first :: _ -> split first | [] -> raise Gave_up)

(* Definitions of quotients by numbers are added before the search, inner terms first. *)
type preparation = Define_division of term * z | Not_below of term

let preparations terms =
  let divided = function
    | Op ((ODiv | OMod), a, Num (Zpos _ as b)) -> Some (a, b)
    | _ -> None in
  let rec size = function Op (_, a, b) -> 1 + size a + size b | _ -> 1 in
  let pairs = List.sort_uniq compare (List.filter_map divided terms) in
  let pairs = List.stable_sort (fun (a, _) (a', _) -> compare (size a) (size a')) pairs in
  let prepare (a, b) =
    let quotient = Op (ODiv, a, Num b) in
    let above =
      match a with
      | Op (OMod, _, Num m) ->
        let most = Z.div (Z.pred (to_big m)) (to_big b) in
        [ Not_below (Op (OSub, Num (of_big most), quotient)) ]
      | _ -> [] in
    Define_division (a, b) :: Not_below quotient :: above in
  List.concat_map prepare pairs

let find ((premises, goal) as q : question) : refutation =
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
  let rec prepared c = function
    | [] -> solve pairs most_depth c
    | Define_division (a, b) :: rest ->
      let k = prepared (add_division a b c) rest in
      counts.divisions <- counts.divisions + 1;
      Divide (a, b, k)
    | Not_below t :: rest ->
      (* Where [t < 0] is impossible even for fractions, add [0 <= t]: it saves branches. *)
      (match feasible (add_lt t (Num Z0) c).constraints with
       | Conflict l ->
         let k = prepared (add_le (Num Z0) t c) rest in
         counts.branches <- counts.branches + 1;
         Branch (t, k, Farkas (farkas l))
       | Model _ -> prepared c rest) in
  let start = initial_context q in
  (* Many questions are contradictions without any division. *)
  if conflicts start then solve pairs most_depth start else prepared start (preparations terms)
