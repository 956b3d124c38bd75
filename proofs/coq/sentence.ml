(* Find the sentence that the theorems of a claim confirm of its layout. Not trusted: what is found
   here is an inverse, a shape and names, with which Kernel.check_packs and Kernel.check_places,
   proved in Coq, confirm the sentence or do not. *)

open Kernel
open Reader
open Declaration

type t =
  | Packs of string   (* a bijection between a box and all slots *)
  | Gaps of string    (* the same for the slots outside gaps *)
  | Places of string  (* different slots for different elements *)
  | Unsaid of string  (* the layout is covered, but the theorems do not say the sentence of it *)
  | Outside of string (* not covered, and why *)

(* What makes the sentence true, for a Coq file. *)
type evidence =
  | By_inverse of layout * (positive * z) list * inverse
  | By_pairs of layout * (positive * z) list * positive * positive * (positive * positive) list

(* Terms as people write them *)

let rec text names loose t =
  let enclosed s = if loose then s else "(" ^ s ^ ")" in
  match t with
  | Num z -> Oracle.Big.to_string (Oracle.to_big z)
  | Var x -> names x
  | Op (ODiv, Op (OAdd, a, Op (OSub, b, Num (Zpos XH))), b') when b = b' ->
    Printf.sprintf "ceil(%s/%s)" (text names false a) (text names false b)
  | Op (OAdd, a, b) -> enclosed (text names true a ^ " + " ^ text names true b)
  | Op (OSub, a, b) -> enclosed (text names true a ^ " - " ^ text names false b)
  | Op (OMul, a, b) -> text names false a ^ "*" ^ text names false b
  | Op (ODiv, a, b) -> enclosed (text names false a ^ "/" ^ text names false b)
  | Op (OMod, a, b) -> enclosed (text names false a ^ "%" ^ text names false b)

let shapes declared source =
  let mark = " where " in
  let rec search at =
    if at + String.length mark > String.length source then ""
    else if String.sub source at (String.length mark) = mark then
      String.sub source at (String.length source - at)
    else search (at + 1) in
  match declared.numbers with
  | [] -> "its one shape"
  | numbers -> "all " ^ String.concat ", " numbers ^ " >= 1" ^ search 0

let tensor declared = if declared.copies then "the tensor with its copies" else "the tensor"

let packs tables declared source inverse =
  let names = Hashtbl.create 97 in
  List.iter (fun e -> Hashtbl.replace names (extent_number tables e) e) declared.numbers;
  let name x = Option.value (Hashtbl.find_opt names x) ~default:"?" in
  let same_box =
    List.for_all2 (fun (_, a) (_, b) -> same a b) declared.layout.axes inverse.box in
  let box =
    if same_box then tensor declared
    else
      Printf.sprintf "the box %s, which contains %s,"
        (String.concat " x " (List.map (fun (_, t) -> text name false t) inverse.box))
        (tensor declared) in
  let slots = if inverse.gaps = [] then "all slots" else "the slots outside its gaps" in
  Printf.sprintf "%s packs: for %s, its offset is a bijection between %s and %s" declared.name
    (shapes declared source) box slots

let places declared source =
  Printf.sprintf "%s places: for %s, each element has a slot of its own in the buffer"
    declared.name (shapes declared source)

(* A shape is given in the certificate; the first index is tried. *)
let example tables declared claim =
  let shape = match claim with Obj members -> List.assoc_opt "shape" members | _ -> None in
  let extents =
    match shape with
    | Some (Obj members) ->
      List.filter_map (function
        | e, Other n when is_number n -> Some (extent_number tables e, of_big (Big.of_string n))
        | _ -> None) members
    | _ -> [] in
  extents @ List.map (fun c -> (index_number tables c, Z0)) declared.indices

(* The inverse that the theorem `decode` is about: its box is in the goals, its gaps are the
   hypotheses that speak of neither the range nor the buffer. *)
let inverse tables declared spoken decode =
  match expand [] M.empty decode.defs with
  | None -> None
  | Some defined ->
    let term = term_at defined in
    let decoded c = number tables.variables ("d." ^ c) in
    let high c =
      List.find_map (function
        | Rel (RLt, Var x, t) when x = decoded c -> Some (subst term t)
        | _ -> None) decode.goals in
    let slot = number tables.variables "slot" in
    let usual = spoken.range @ slot_bounds spoken slot in
    let hypotheses = List.map (subst_formula term) decode.hyps in
    let gaps = List.filter (fun h -> not (List.exists (same_formula h) usual)) hypotheses in
    let bounded = List.map (fun c -> (index_number tables c, high c)) declared.indices in
    if List.exists (fun (_, t) -> t = None) bounded then None
    else
      Some
        { slot_name = slot; gaps;
          box = List.map (fun (x, t) -> (x, Option.get t)) bounded;
          found = List.map (fun c -> (index_number tables c, term (decoded c))) declared.indices }

let no_terms = "an extent does not follow from a coordinate, or bits have no bound"

let of_items tables items claim source =
  let theorems = List.map (fun (_, i) -> i.item_theorem) items in
  let named name = Option.map (fun i -> i.item_theorem) (List.assoc_opt name items) in
  let declared = declaration tables source in
  let layout = declared.layout in
  match speak layout with
  | None -> (Outside no_terms, None)
  | Some spoken ->
    let shape = example tables declared claim in
    let found =
      match named "decode" with Some th -> inverse tables declared spoken th | None -> None in
    match found with
    | Some inverse when check_packs layout shape inverse theorems ->
      let words = packs tables declared source inverse in
      ((if inverse.gaps = [] then Packs words else Gaps words),
       Some (By_inverse (layout, shape, inverse)))
    | _ ->
      let variable w = number tables.variables w in
      let slot = variable "slot" and second = variable "slot~2" in
      let other =
        List.map (fun c -> (index_number tables c, variable ("i." ^ c ^ "~2"))) declared.indices in
      if check_places layout shape slot second other theorems then
        (Places (places declared source), Some (By_pairs (layout, shape, slot, second, other)))
      else
        let words = "the theorems do not say that its offset is a bijection" in
        (Unsaid (declared.name ^ ": " ^ words), None)

(* A claim `prove NAME` or `prove NAME where ...` says that a layout is right, in that range. Other
   claims have no sentence. *)
let range_of claim =
  match String.split_on_char ' ' (string_of (get "claim" claim)) with
  | [ "prove"; _ ] -> Some ""
  | "prove" :: _ :: "where" :: rest -> Some (" where " ^ String.concat " " rest)
  | _ -> None

let of_claim tables items claim range =
  if items = [] then (Outside "it has no theorems", None)
  else
    match of_items tables items claim (string_of (get "subject" claim) ^ range) with
    | found -> found
    | exception Declaration.Outside why -> (Outside why, None)
