(* Read the declaration of a layout as a certificate prints it. TRUSTED, like reader.ml: a
   mistake here can make layoutdsl-check print a sentence about another layout.

     layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16] of f16 where C%8 == 0

   The grammar is that of grammar/layout.lark, as far as Layout.v covers it. Whatever is not
   covered is refused with [Outside] and a reason. `layoutdsl-check --declarations FILE` prints what
   was read; tests/inner/proof/test_coq_layouts.py compares it with what Python reads. *)

open Kernel
open Reader

exception Outside of string

let outside fmt = Printf.ksprintf (fun message -> raise (Outside message)) fmt

type token = Id of string | Number of string | Sign of string | End

let letter = function 'A' .. 'Z' | 'a' .. 'z' | '_' -> true | _ -> false
let digit = function '0' .. '9' -> true | _ -> false

let tokens source =
  let length = String.length source in
  let rec stop inside at = if at < length && inside source.[at] then stop inside (at + 1) else at in
  let rec more at found =
    if at >= length then List.rev (End :: found)
    else
      let take last make = more last (make (String.sub source at (last - at)) :: found) in
      match source.[at] with
      | ' ' | '\n' -> more (at + 1) found
      | c when letter c -> take (stop (fun c -> letter c || digit c) at) (fun w -> Id w)
      | c when digit c ->
        let last = stop (fun c -> digit c || letter c || c = '.') at in
        (* 2.5 and 0xff are signs: they may stand as a fill, and in no expression. *)
        take last (fun w -> if String.for_all digit w then Number w else Sign w)
      | _ ->
        let two = if at + 1 < length then String.sub source at 2 else "" in
        if List.mem two [ "=="; "!="; "<="; ">="; "<<"; ">>"; "//"; ".." ] then
          take (at + 2) (fun w -> Sign w)
        else take (at + 1) (fun w -> Sign w) in
  more 0 []

(* A layout with the names that people gave it. [indices] and [numbers] are in the order of the
   declaration: axes, and extents with parameters. *)
type declared = {
  name : string;
  layout : layout;
  indices : string list;
  numbers : string list;
  copies : bool;  (* whether an axis is one of copies *)
}

(* An index `c` has the number of the name `i.c` in theorems, and an extent `C` that of `n.C`.
   The sentence does not depend on it, as long as different names get different numbers. *)
let index_number tables c = number tables.variables ("i." ^ c)
let extent_number tables e = number tables.variables ("n." ^ e)

let declaration tables source =
  let rest = ref (tokens source) in
  let peek () = List.hd !rest in
  let next () =
    let first = List.hd !rest in
    if first <> End then rest := List.tl !rest;
    first in
  let text = function Id w | Number w | Sign w -> "`" ^ w ^ "`" | End -> "its end" in
  let is sign = peek () = Sign sign in
  let accept sign = if is sign then (ignore (next ()); true) else false in
  let expect sign =
    if not (accept sign) then outside "`%s` is missing before %s" sign (text (peek ())) in
  let name () =
    match next () with Id w -> w | t -> outside "a name is missing before %s" (text t) in
  let rec separated item =
    let first = item () in
    if accept "," then first :: separated item else [ first ] in
  (match next () with
   | Id "layout" -> ()
   | Id (("record" | "table") as kind) -> outside "it is a %s" kind
   | t -> outside "it begins with %s" (text t));
  let title = name () in
  let parameters =
    if accept "<" then (let found = separated name in expect ">"; found) else [] in
  let copies = ref false in
  let axis () =
    let index = name () in
    let extent =
      if not (accept ":") then Id (String.uppercase_ascii index)
      else
        match next () with
        | (Id _ | Number _) as extent -> extent
        | t -> outside "an extent is missing before %s" (text t) in
    if peek () = Id "broadcast" then (ignore (next ()); copies := true);
    (index, extent) in
  expect "(";
  let axes = if is ")" then [] else separated axis in
  expect ")";
  let indices = List.map fst axes in
  let extents = List.filter_map (function _, Id e -> Some e | _ -> None) axes in
  let once = List.fold_left (fun l x -> if List.mem x l then l else l @ [ x ]) [] in
  let numbers = once (extents @ parameters) in
  if List.length (once indices) < List.length indices then outside "two axes have one name";
  if List.exists (fun x -> List.mem x numbers) indices then
    outside "an axis has the name of an extent";
  let integer w = of_big (Big.of_string w) in
  let named w =
    if List.mem w indices then Name (index_number tables w)
    else if List.mem w numbers then Name (extent_number tables w)
    else outside "`%s` is no axis, extent or parameter of it" w in
  let rec bits_xor () =
    let rec more left = if accept "^" then more (Xor (left, bits_and ())) else left in
    let found = more (bits_and ()) in
    if is "|" then outside "it has `|`";
    found
  and bits_and () =
    let rec more left =
      if not (accept "&") then left
      else
        match left, sum () with
        | a, Int m | Int m, a -> more (Mask (a, m))
        | _ -> outside "it has `&` without a number" in
    let found = more (sum ()) in
    if is "<<" || is ">>" then outside "it has a shift";
    found
  and sum () =
    let rec more left =
      if accept "+" then more (Calc (OAdd, left, product ()))
      else if accept "-" then more (Calc (OSub, left, product ()))
      else left in
    more (product ())
  and product () =
    let rec more left =
      if accept "*" then more (Calc (OMul, left, unary ()))
      else if accept "/" || accept "//" then more (Calc (ODiv, left, unary ()))
      else if accept "%" then more (Calc (OMod, left, unary ()))
      else left in
    more (unary ())
  and unary () =
    if accept "-" then
      match unary () with
      | Int (Zpos p) -> Int (Zneg p)
      | Int (Zneg p) -> Int (Zpos p)
      | e -> Calc (OSub, Int Z0, e)
    else atom ()
  and atom () =
    match next () with
    | Number w -> Int (integer w)
    | Id "ceil" when is "(" ->
      expect "(";
      let inner = bits_xor () in
      expect ")";
      (match inner with
       | Calc (ODiv, a, b) -> Ceil (a, b)
       | _ -> outside "it has `ceil` of no quotient")
    | Id w when is "(" -> outside "it has `%s(...)`" w
    | Id w -> named w
    | Sign "(" ->
      let found = tuple () in
      expect ")";
      found
    | t -> outside "an expression is missing before %s" (text t)
  (* (a, b, c) is ((a, b), c). *)
  and tuple () =
    let rec more left = if accept "," then more (Pair (left, coordinate ())) else left in
    more (coordinate ())
  and coordinate () =
    let value = bits_xor () in
    if accept ":" then Sized (value, bits_xor ()) else value in
  expect "=";
  (match peek () with
   | Sign "[" -> ()
   | t -> outside "it is written as %s, without coordinates" (text t));
  expect "[";
  let rec places left =
    (* `;` separates the chunk from the place within it, and changes no offset. *)
    if accept "," || accept ";" then places (Pair (left, coordinate ())) else left in
  if is "]" then outside "it has no coordinates";
  let coordinates = places (coordinate ()) in
  expect "]";
  let comparison left =
    let side () = bits_xor () in
    match next () with
    | Sign "==" -> let right = side () in (((REq, false), left), right), right
    | Sign "!=" -> let right = side () in (((REq, true), left), right), right
    | Sign "<=" -> let right = side () in (((RLe, false), left), right), right
    | Sign "<" -> let right = side () in (((RLt, false), left), right), right
    | Sign ">=" -> let right = side () in (((RLe, false), right), left), right
    | Sign ">" -> let right = side () in (((RLt, false), right), left), right
    | t -> outside "a comparison is missing before %s" (text t) in
  let condition () =
    let rec chain left =
      let found, right = comparison left in
      match peek () with
      | Sign ("==" | "!=" | "<=" | "<" | ">=" | ">") -> found :: chain right
      | _ -> [ found ] in
    chain (bits_xor ()) in
  (* `fill` and `of` say what slots hold, not where elements lie. *)
  let rec clauses start where_ =
    match next () with
    | End -> (start, where_)
    | Id "fill" ->
      ignore (accept "+" || accept "-");
      (match next () with
       | Id _ | Number _ -> clauses start where_
       | Sign w when digit w.[0] -> clauses start where_
       | t -> outside "a fill is missing before %s" (text t))
    | Id "of" ->
      ignore (name ());
      if peek () = Id "as" then begin
        ignore (next ());
        ignore (name ());
        if peek () = Id "per" then (ignore (next ()); ignore (name ()))
      end;
      clauses start where_
    | Id "offset" when start = Int Z0 -> clauses (bits_xor ()) where_
    | Id "where" -> clauses start (where_ @ List.concat (separated condition))
    | t -> outside "it has the clause %s" (text t) in
  let start, where_ = clauses (Int Z0) [] in
  let extent = function
    | Number w -> Num (integer w)
    | Id e -> Var (extent_number tables e)
    | Sign _ | End -> assert false in
  { name = title;
    layout =
      { axes = List.map (fun (c, e) -> (index_number tables c, extent e)) axes;
        symbols = List.map (extent_number tables) numbers;
        where_; start; coordinates };
    indices; numbers; copies = !copies }
