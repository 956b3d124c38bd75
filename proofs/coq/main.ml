(* layoutdsl-check: confirm certificates of layoutdsl without any solver.

   Reader and Declaration (trusted) read the file, Oracle and Sentence (not trusted) find
   refutations and inverses, and Kernel.confirm, Kernel.check_packs and Kernel.check_places,
   extracted from Coq, decide. *)

open Kernel
open Reader

let usage = {|layoutdsl-check: confirm certificates of layoutdsl, by a checker that is proved in Coq.

usage: layoutdsl-check FILE.json...        confirm certificates; `-` reads the standard input
       layoutdsl-check --by-claim FILE     one line for each claim, for programs
       layoutdsl-check --lemmas FILE       compare lemmas.json with Lemmas.v
       layoutdsl-check --theorems FILE...  print every theorem as it was read
       layoutdsl-check --declarations FILE...
                                           print every layout as it was read
       layoutdsl-check --coq FILE CLAIM    write a Coq file that states and proves one claim,
                                           and its sentence
       layoutdsl-check --smt FILE...       answer questions in SMT-LIB: unsat or unknown

A claim `prove NCHW16c` also has a sentence about the declaration that the certificate prints:

  NCHW16c packs: for all N, C, H, W >= 1, its offset is a bijection between the box
  N x ceil(C/16)*16 x H x W, which contains the tensor, and all slots

It is printed if the theorems imply it by the definitions of Layout.v, whoever wrote them.
`X places: ...` is the sentence for a part of a tensor, such as a triangle. Records, tables and
layouts without theorems have no sentence; the last lines count them.

options, before the others:
       --quiet          print only what is not confirmed, and the counts
       --layouts        also reject a layout whose sentence is not confirmed
       --seconds N      search at most N seconds for each answer (60)
       --slow N         print questions whose search takes more than N seconds to stderr

Exit code: 0 if everything is confirmed, 1 if something is not, 2 for wrong usage.
|}

(* Questions that were answered are remembered by their value: many occur several times. *)

let questions = ref 0
let unanswered = ref 0
let searching = ref 0.0
let slow = ref infinity
(* The usual hash looks at ten words only, the same in most questions of a proof. *)
module Questions = Hashtbl.Make (struct
  type t = question
  let equal = ( = )
  let hash = Hashtbl.hash_param 500 500
end)
let known : refutation Questions.t = Questions.create 997

let oracle q =
  incr questions;
  match Questions.find_opt known q with
  | Some found -> found
  | None ->
    let started = Sys.time () in
    let found =
      (* An empty combination refutes nothing, so the kernel rejects it. *)
      try Oracle.find q with Oracle.Gave_up -> incr unanswered; Farkas [] in
    let took = Sys.time () -. started in
    searching := !searching +. took;
    if took > !slow then Printf.eprintf "%.2f s\n   %s\n%!" took (Show.question q);
    Questions.replace known q found;
    found

let theorems = ref 0
let without_theorems = ref 0

type verdict = Confirmed | Empty | Unanswered of string | Rejected of string

(* Which theorem was not confirmed, and why. This is for people: [confirm] alone decides. *)
let reason items =
  let rec first kb = function
    | [] -> Rejected "the checker rejects it"
    | (name, i) :: rest ->
      match check kb i.item_theorem i.item_facts i.item_proof with
      | None -> Rejected (Printf.sprintf "theorem %s: a step of its proof does not follow" name)
      | Some qs ->
        let missing = List.filter (fun q -> not (check_refutation q (oracle q))) qs in
        if missing = [] then first (M.add i.item_name i.item_theorem kb) rest
        else
          Unanswered
            (Printf.sprintf "theorem %s: no answer was found to %d of its %d questions" name
               (List.length missing) (List.length qs)) in
  first library items

let verdict claim =
  match
    let tables, items = claim_items claim in
    theorems := !theorems + List.length items;
    let sentence () =
      Option.map (fun range -> fst (Sentence.of_claim tables items claim range))
        (Sentence.range_of claim) in
    if items = [] then (incr without_theorems; (Empty, sentence ()))
    else if confirm oracle library (List.map snd items) then (Confirmed, sentence ())
    else (reason items, None)
  with
  | found -> found
  | exception Bad why -> (Rejected why, None)
  | exception Stack_overflow -> (Rejected "it is nested too deeply", None)

(* One line a claim, in order: confirmed, empty, unanswered or rejected; a tab; the reason, or
   which sentence is confirmed too. *)
let by_claim file =
  let line claim =
    match verdict claim with
    | Confirmed, Some (Sentence.Packs _) -> "confirmed\tpacks"
    | Confirmed, Some (Sentence.Gaps _) -> "confirmed\tpacks outside gaps"
    | Confirmed, Some (Sentence.Places _) -> "confirmed\tplaces"
    | Confirmed, _ -> "confirmed\t"
    | Empty, _ -> "empty\t"
    | Unanswered why, _ -> "unanswered\t" ^ why
    | Rejected why, _ ->
      "rejected\t" ^ String.map (function '\n' | '\t' -> ' ' | c -> c) why in
  (* Each line is flushed, because the caller limits the time between lines. *)
  List.iter (fun claim -> print_endline (line claim)) (claims (read_file file));
  Printf.printf "end\t%d questions\n" !questions

let packs = ref 0
let gaps = ref 0
let places = ref 0
let unsaid = ref 0
let outside : (string, int) Hashtbl.t = Hashtbl.create 7

(* Count a sentence, and return the line that is printed of it. *)
let count_sentence = function
  | Sentence.Packs words -> incr packs; Some words
  | Sentence.Gaps words -> incr gaps; Some words
  | Sentence.Places words -> incr places; Some words
  | Sentence.Unsaid words -> incr unsaid; Some words
  | Sentence.Outside why ->
    Hashtbl.replace outside why
      (1 + Option.value (Hashtbl.find_opt outside why) ~default:0);
    None

let confirm_file quiet strict file =
  let sentences = ref [] in
  let bad_claim claim =
    let verdict, sentence = verdict claim in
    let words = Option.bind sentence count_sentence in
    sentences := Option.to_list words @ !sentences;
    match verdict, sentence with
    | (Confirmed | Empty), Some (Sentence.Unsaid words) when strict -> Some words
    | (Confirmed | Empty), _ -> None
    | (Unanswered why | Rejected why), _ ->
      Some (Printf.sprintf "%s: %s" (string_of (get "claim" claim)) why) in
  let problems, count =
    try
      let found = claims (read_file file) in
      (List.filter_map bad_claim found, List.length found)
    with
    | Bad why -> ([ why ], 0)
    | Sys_error why -> ([ why ], 0)
    | Stack_overflow -> ([ "it is nested too deeply" ], 0) in
  if problems <> [] then
    Printf.printf "REJECTED %s\n  %s\n%!" file (String.concat "\n  " problems)
  else if not quiet then begin
    Printf.printf "CONFIRMED %s\n%!" file;
    List.iter (Printf.printf "  %s\n%!") (List.rev !sentences)
  end;
  (problems = [], count)

let print_sentences () =
  let others = List.sort compare (List.of_seq (Hashtbl.to_seq outside)) in
  let count = List.fold_left (fun sum (_, n) -> sum + n) 0 others in
  Printf.printf
    "%d layouts: %d pack, %d pack outside gaps, %d place; of %d the sentence is not confirmed\n"
    (!packs + !gaps + !places + !unsaid) !packs !gaps !places !unsaid;
  if others <> [] then
    Printf.printf "%d claims without a sentence: %s\n" count
      (String.concat "; " (List.map (fun (why, n) -> Printf.sprintf "%s (%d)" why n) others))

let confirm_files quiet strict files =
  let results = List.map (confirm_file quiet strict) files in
  let failed = List.length (List.filter (fun (good, _) -> not good) results) in
  let count = List.fold_left (fun sum (_, n) -> sum + n) 0 results in
  let c = Oracle.counts in
  Printf.printf "%d files: %d confirmed, %d not\n" (List.length files)
    (List.length files - failed) failed;
  print_sentences ();
  Printf.printf "%d claims (%d without theorems), %d theorems, %d questions, %d unanswered\n"
    count !without_theorems !theorems !questions !unanswered;
  Printf.printf "%d splits, %d branches, %d cuts, %d congruences, %d divisions; %.1f s, %.1f s of it search\n"
    c.Oracle.splits c.Oracle.branches c.Oracle.cuts c.Oracle.congruences c.Oracle.divisions
    (Sys.time ()) !searching;
  failed = 0

(* The statements of the lemmas have to be those that Lemmas.v proves, because proofs use them.
   Their proofs in the file are followed too, except the two that ask a solver for products. *)
let lemma_file file =
  let proofs = list_of (get "proofs" (json (read_file file))) in
  if List.length proofs <> List.length lemmas then bad "Lemmas.v has another number of lemmas";
  let tables = new_tables () and kb = ref M.empty and followed = ref 0 in
  List.iteri (fun i proof ->
    let name, th, facts = theorem_of_json tables proof in
    if name <> List.nth lemma_names i || th <> List.nth lemmas i then
      bad "lemma %s is not the lemma of Lemmas.v" name;
    let steps = List.map string_of (list_of (get "proof" proof)) in
    if steps <> [ "(native)" ] then begin
      match check !kb th facts (List.map (fun s -> step tables (tree s)) steps) with
      | Some qs when List.for_all (fun q -> check_refutation q (oracle q)) qs -> incr followed
      | _ -> bad "the proof of lemma %s does not check" name
    end;
    kb := M.add (number tables.theorems name) th !kb) proofs;
  Printf.printf "CONFIRMED %s: %d lemmas are those of Lemmas.v, %d proofs checked\n" file
    (List.length proofs) !followed

let coq_file file wanted =
  let is_wanted claim = string_of (get "claim" claim) = wanted in
  match List.find_opt is_wanted (claims (read_file file)) with
  | None -> bad "%s has no claim `%s`" file wanted
  | Some claim ->
    let tables, items = claim_items claim in
    if items = [] then bad "the claim `%s` has no theorems" wanted;
    let identifier = String.map (function '.' | '~' -> '_' | c -> c) in
    let kb = ref library in
    (* The claim stands in a comment, so it must not close it. *)
    Emit.head (String.concat "" (String.split_on_char '*' wanted));
    List.iter (fun (name, i) ->
      match check !kb i.item_theorem i.item_facts i.item_proof with
      | Some qs ->
        Emit.item (identifier name) i (List.map oracle qs);
        kb := M.add i.item_name i.item_theorem !kb
      | None -> bad "theorem %s: a step of its proof does not follow" name) items;
    Emit.tail (List.map (fun (name, _) -> identifier name) items);
    let of_claim range = snd (Sentence.of_claim tables items claim range) in
    (match Option.bind (Sentence.range_of claim) of_claim with
     | Some (Sentence.By_inverse (l, example, inverse)) -> Emit.packs l example inverse
     | Some (Sentence.By_pairs (l, example, slot, second, other)) ->
       Emit.places l example slot second other
     | None -> ());
    print_string (Buffer.contents Emit.out)

(* Print what was read, for comparison with another reader. *)
let print_theorems file =
  let print claim =
    let tables, items = claim_items claim in
    let names = Hashtbl.create 97 in
    Hashtbl.iter (fun w n -> Hashtbl.replace names n w) tables.variables;
    (Show.name := fun x -> Hashtbl.find names (Big.to_int (Oracle.big_of_pos x)));
    let all show l = "(" ^ String.concat " " (List.map show l) ^ ")" in
    let variable x = Show.term (Var x) in
    let definition (x, t) = Printf.sprintf "(%s %s)" (variable x) (Show.term t) in
    List.iter (fun (name, i) ->
      let th = i.item_theorem in
      Printf.printf "(theorem %s %s %s %s %s)\n" name (all variable th.vars)
        (all Show.formula th.hyps) (all Show.formula th.goals) (all definition th.defs)) items in
  List.iter print (claims (read_file file))

let print_declarations file =
  let print claim =
    let tables = new_tables () and source = string_of (get "subject" claim) in
    match Declaration.declaration tables source with
    | exception Declaration.Outside why -> Printf.printf "outside: %s\n" why
    | declared when speak declared.Declaration.layout = None ->
      Printf.printf "outside: %s\n" Sentence.no_terms
    | declared ->
      let names = Hashtbl.create 97 in
      Hashtbl.iter (fun w n -> Hashtbl.replace names n w) tables.variables;
      (Show.name := fun x -> Hashtbl.find names (Big.to_int (Oracle.big_of_pos x)));
      print_endline (Show.layout declared.Declaration.name declared.Declaration.layout) in
  List.iter print (claims (read_file file))

let answer_script file =
  let answer = function
    | Some q when check_refutation q (oracle q) -> print_endline "unsat"
    | _ -> print_endline "unknown" in
  Smt.run answer (read_file file)

let rec run quiet strict = function
  | "--quiet" :: rest -> run true strict rest
  | "--layouts" :: rest -> run quiet true rest
  | "--seconds" :: n :: rest when float_of_string_opt n <> None ->
    Oracle.seconds := float_of_string n;
    run quiet strict rest
  | "--slow" :: n :: rest when float_of_string_opt n <> None ->
    slow := float_of_string n;
    run quiet strict rest
  | [ "--by-claim"; file ] -> by_claim file; 0
  | [ "--lemmas"; file ] -> lemma_file file; 0
  | "--theorems" :: files -> List.iter print_theorems files; 0
  | "--declarations" :: files -> List.iter print_declarations files; 0
  | [ "--coq"; file; claim ] -> coq_file file claim; 0
  | "--smt" :: files -> List.iter answer_script files; 0
  | [ "--help" ] -> print_string usage; 0
  | first :: _ as files when first = "-" || first.[0] <> '-' ->
    if confirm_files quiet strict files then 0 else 1
  | _ -> prerr_string usage; 2

let () =
  exit
    (match run false false (List.tl (Array.to_list Sys.argv)) with
     | code -> code
     | exception (Bad why | Sys_error why) -> Printf.printf "REJECTED %s\n" why; 1)
