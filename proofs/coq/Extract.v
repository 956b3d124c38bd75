(** Extract the checker to kernel.ml, and print on which axioms its theorems rest.

    The Makefile fails unless every line printed is "Closed under the global context". *)

Require Import Syntax Poly Check Refute Lemmas Main Layout.
Require Import Extraction ExtrOcamlBasic.

Print Assumptions check_sound.
Print Assumptions unsat_valid.
Print Assumptions check_refutation_ok.
Print Assumptions lemmas_ok.
Print Assumptions library_ok.
Print Assumptions confirm_sound.
Print Assumptions confirm_with_sound.
Print Assumptions questions_sound.
Print Assumptions check_packs_sound.
Print Assumptions check_places_sound.
Print Assumptions confirmed_packs.
Print Assumptions confirmed_places.
Print Assumptions confirmed_with_packs.
Print Assumptions confirmed_with_places.

Extraction Language OCaml.
(* The first two lines run in layoutdsl-check. The oracle builds refutations, and sentence.ml
   inverses, with the others. *)
Extraction "kernel.ml"
  confirm questions library lemmas check check_refutation
  check_packs check_places speak spell
  expand term_at subst_formula same_formula slot_bounds
  initial_context refute add_formula add_le add_lt add_eq add_division
  normalize poly_scale mono_term poly_term term_compare mono_compare combine divide_and_round
  M.add M.empty.
