(* Write theorems, proofs, refutations and layouts as a Coq file, which Coq checks by itself. *)

open Kernel

let out = Buffer.create 100_000
let p fmt = Printf.bprintf out fmt
let list write items =
  p "[";
  List.iteri (fun i x -> if i > 0 then p "; "; write x) items;
  p "]"
let pos x = p "%s%%positive" (Oracle.Big.to_string (Oracle.big_of_pos x))
let z x = p "(%s)" (Oracle.Big.to_string (Oracle.to_big x))
let op o =
  p "%s"
    (match o with
     | OAdd -> "OAdd" | OSub -> "OSub" | OMul -> "OMul" | ODiv -> "ODiv" | OMod -> "OMod")
let rec term = function
  | Num n -> p "(Num "; z n; p ")"
  | Var x -> p "(Var "; pos x; p ")"
  | Op (o, x, y) -> p "(Op "; op o; p " "; term x; p " "; term y; p ")"
let rec formula = function
  | Rel (r, x, y) ->
    p "(Rel %s " (match r with REq -> "REq" | RLe -> "RLe" | RLt -> "RLt");
    term x; p " "; term y; p ")"
  | And (f, g) -> two "And" f g
  | Or (f, g) -> two "Or" f g
  | Imp (f, g) -> two "Imp" f g
  | Not f -> p "(Not "; formula f; p ")"
and two w f g = p "(%s " w; formula f; p " "; formula g; p ")"
let value (x, t) = p "("; pos x; p ", "; term t; p ")"
let move = function
  | Ring t -> p "Ring "; term t
  | By (n, back) -> p "By "; pos n; p " %b" back
let step = function
  | Define (x, t, n) -> p "Define "; pos x; p " "; term t; p " "; pos n
  | Have (n, f, ps) -> p "Have "; pos n; p " "; formula f; p " "; list pos ps
  | Use (ns, k, vs, ps) ->
    p "Use "; list pos ns; p " "; pos k; p " "; list value vs; p " "; list pos ps
  | Calculate (n, t, ms) -> p "Calculate "; pos n; p " "; term t; p " "; list move ms
  | Rewrite (n, s, ms) -> p "Rewrite "; pos n; p " "; pos s; p " "; list move ms

let rec int_of_nat = function O -> 0 | S n -> 1 + int_of_nat n
let part (n, c) = p "(%d%%nat, " (int_of_nat n); z c; p ")"
let rec refutation = function
  | Farkas l -> p "(Farkas "; list part l; p ")"
  | Cut (l, d, k) -> p "(Cut "; list part l; p " "; z d; p " "; refutation k; p ")"
  | Split (n, k, k') ->
    p "(Split %d%%nat " (int_of_nat n); refutation k; p " "; refutation k'; p ")"
  | Branch (t, k, k') ->
    p "(Branch "; term t; p " "; refutation k; p " "; refutation k'; p ")"
  | Divide (t, d, k) -> p "(Divide "; term t; p " "; z d; p " "; refutation k; p ")"
  | Congruence (o, x, x', y, y', k1, k2, k3, k4, k) ->
    p "(Congruence "; op o;
    List.iter (fun t -> p " "; term t) [ x; x'; y; y' ];
    List.iter (fun k -> p " "; refutation k) [ k1; k2; k3; k4; k ];
    p ")"

let theorem th =
  p "{| vars := "; list pos th.vars;
  p ";\n   defs := "; list value th.defs;
  p ";\n   hyps := "; list formula th.hyps;
  p ";\n   goals := "; list formula th.goals;
  p " |}"

let lines write items = List.iteri (fun i x -> if i > 0 then p ";\n"; write x) items

let item name i refutations =
  p "Definition th_%s : theorem :=\n  " name; theorem i.item_theorem;
  p ".\nDefinition item_%s : item * list refutation := ({| item_name := " name; pos i.item_name;
  p "; item_theorem := th_%s; item_facts := " name; list pos i.item_facts;
  p ";\n  item_proof := [\n"; lines step i.item_proof;
  p "] |},\n [";
  lines refutation refutations;
  p "]).\n\n"

let head claim =
  p "(** %s\n\n    Written by `layoutdsl-check --coq`. Compile it beside the files of proofs/coq.\n\
    \    Each theorem below is a record th_NAME; NAME_holds proves it as people read it. If the claim\n\
    \    has a sentence about its layout, `declared` is the layout, and `sentence` proves it. *)\n" claim;
  p "Require Import Syntax Poly Check Refute Lemmas Main Layout.\n\
     From Coq Require Import ZArith List.\n\
     Import ListNotations.\n\
     Open Scope Z_scope.\n\n"

let tail names =
  p "Definition items := ["; List.iteri (fun i n -> if i > 0 then p "; "; p "item_%s" n) names;
  p "].\n";
  p "Lemma confirmed : confirm_with library items = true.\n\
     Proof. vm_cast_no_check (eq_refl true). Qed.\n";
  List.iter (fun n ->
    p "Theorem %s_holds : true_as_written th_%s.\n\
       Proof.\n\
      \  exact (proj2 (proj1 (Forall_forall _ _) (confirm_with_sound _ confirmed) item_%s\n\
      \    ltac:(unfold items; simpl; tauto))).\n\
       Qed.\n" n n n) names;
  match names with [] -> () | _ -> p "Print Assumptions %s_holds.\n" (List.nth names (List.length names - 1))

(* The layout of the claim, and the sentence as a theorem about it. *)
let rec expr = function
  | Name x -> p "(Name "; pos x; p ")"
  | Int n -> p "(Int "; z n; p ")"
  | Calc (o, a, b) -> p "(Calc "; op o; p " "; expr a; p " "; expr b; p ")"
  | Ceil (a, b) -> p "(Ceil "; expr a; p " "; expr b; p ")"
  | Xor (a, b) -> p "(Xor "; expr a; p " "; expr b; p ")"
  | Mask (a, m) -> p "(Mask "; expr a; p " "; z m; p ")"
  | Pair (a, b) -> p "(Pair "; expr a; p " "; expr b; p ")"
  | Sized (a, b) -> p "(Sized "; expr a; p " "; expr b; p ")"
let condition (((r, negated), a), b) =
  p "(%s, %b, " (match r with REq -> "REq" | RLe -> "RLe" | RLt -> "RLt") negated;
  expr a; p ", "; expr b; p ")"
let layout (l : layout) =
  p "Definition declared : layout :=\n  {| axes := "; list value l.axes;
  p ";\n   symbols := "; list pos l.symbols;
  p ";\n   where_ := "; list condition l.where_;
  p ";\n   start := "; expr l.start;
  p ";\n   coordinates := "; expr l.coordinates;
  p " |}.\n"
let number_of (x, n) = p "("; pos x; p ", "; z n; p ")"
let pair (x, y) = p "("; pos x; p ", "; pos y; p ")"
let theorems = "(map (fun i => item_theorem (fst i)) items)"

let packs l example i =
  layout l;
  p "Definition read : inverse :=\n  {| slot_name := "; pos i.slot_name;
  p ";\n   box := "; list value i.box;
  p ";\n   found := "; list value i.found;
  p ";\n   gaps := "; list formula i.gaps;
  p " |}.\nDefinition element : list (positive * Z) := "; list number_of example;
  p ".\nLemma checked : check_packs declared element read %s = true.\n\
     Proof. vm_cast_no_check (eq_refl true). Qed.\n" theorems;
  let said, part, rest =
    if i.gaps = [] then ("packs_without_gaps", "proj2", " eq_refl") else ("packs", "proj1", "") in
  p "Theorem sentence : %s declared.\n\
     Proof.\n\
    \  exact (%s (confirmed_with_packs items declared element read confirmed checked)%s).\n\
     Qed.\nPrint Assumptions sentence.\n" said part rest

let places l example slot second other =
  layout l;
  p "Definition element : list (positive * Z) := "; list number_of example;
  p ".\nDefinition other : list (positive * positive) := "; list pair other;
  p ".\nLemma checked : check_places declared element "; pos slot; p " "; pos second;
  p " other %s = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n" theorems;
  p "Theorem sentence : places declared.\n\
     Proof.\n\
    \  exact (confirmed_with_places items declared element _ _ other confirmed checked).\n\
     Qed.\n\
     Print Assumptions sentence.\n"
