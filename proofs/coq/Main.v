(** Certificates: lists of theorems with their proofs, each after the theorems that it uses.

    Three ways to answer the questions have the same conclusion: every theorem of the list is
    true. *)
From Coq Require Import ZArith List Bool PArith FMapPositive.
Require Import Syntax Poly Check Refute Lemmas.
Import ListNotations.

Record item := {
  item_name : positive;           (* by which later proofs use the theorem *)
  item_theorem : theorem;
  item_facts : list positive;     (* the names of hypotheses and definitions in the proof *)
  item_proof : list step }.

Definition true_item (i : item) : Prop :=
  true_theorem (item_theorem i) /\ true_as_written (item_theorem i).

(** 1. [layoutdsl-check] asks an oracle for refutations. The theorem holds for every function
    [oracle], so the oracle is not trusted. *)
Fixpoint confirm (oracle : question -> refutation) (K : theorems) (l : list item) : bool :=
  match l with
  | [] => true
  | i :: l =>
      match check K (item_theorem i) (item_facts i) (item_proof i) with
      | Some qs =>
          forallb (fun q => check_refutation q (oracle q)) qs
          && confirm oracle (M.add (item_name i) (item_theorem i) K) l
      | None => false
      end
  end.
Theorem confirm_sound oracle l :
  confirm oracle library l = true -> Forall true_item l.
Proof.
  generalize library, library_ok. induction l as [|i l IH]; intros K HK H; [constructor|].
  cbn [confirm] in H. destruct (check K _ _ _) as [qs|] eqn:E; try discriminate.
  apply andb_true_iff in H. destruct H as [H1 H2].
  assert (T : true_item i).
  { eapply check_sound; eauto. apply Forall_forall. intros q I.
    rewrite forallb_forall in H1. eapply check_refutation_ok. exact (H1 q I). }
  constructor; [exact T|]. apply (IH (M.add (item_name i) (item_theorem i) K)); auto.
  intros n t. destruct (Pos.eq_dec n (item_name i)) as [->|ne].
  - rewrite M.gss. intro X. inversion X; subst. apply T.
  - rewrite M.gso by auto. apply HK.
Qed.

(** 2. [layoutdsl-check --coq] writes the refutations into a Coq file, and Coq itself evaluates
    [confirm_with]. Neither extraction nor OCaml is trusted. *)
Fixpoint check_refutations (qs : list question) (ks : list refutation) : bool :=
  match qs, ks with
  | [], _ => true
  | q :: qs, k :: ks => check_refutation q k && check_refutations qs ks
  | _, [] => false
  end.
Lemma check_refutations_ok qs : forall ks, check_refutations qs ks = true -> Forall valid qs.
Proof.
  induction qs as [|q qs IH]; intros [|k ks] H; try constructor; try discriminate;
    simpl in H; apply andb_true_iff in H; destruct H as [H1 H2]; [eapply check_refutation_ok|eapply IH]; eauto.
Qed.
Fixpoint confirm_with (K : theorems) (l : list (item * list refutation)) : bool :=
  match l with
  | [] => true
  | (i, ks) :: l =>
      match check K (item_theorem i) (item_facts i) (item_proof i) with
      | Some qs =>
          check_refutations qs ks && confirm_with (M.add (item_name i) (item_theorem i) K) l
      | None => false
      end
  end.
Theorem confirm_with_sound l :
  confirm_with library l = true -> Forall (fun ik => true_item (fst ik)) l.
Proof.
  generalize library, library_ok. induction l as [|[i ks] l IH]; intros K HK H; [constructor|].
  cbn [confirm_with] in H. destruct (check K _ _ _) as [qs|] eqn:E; try discriminate.
  apply andb_true_iff in H. destruct H as [H1 H2].
  assert (T : true_item i).
  { eapply check_sound; eauto. eapply check_refutations_ok. exact H1. }
  constructor; [exact T|]. apply (IH (M.add (item_name i) (item_theorem i) K)); auto.
  intros n t. destruct (Pos.eq_dec n (item_name i)) as [->|ne].
  - rewrite M.gss. intro X. inversion X; subst. apply T.
  - rewrite M.gso by auto. apply HK.
Qed.

(** 3. The Python kernel leaves the questions to a solver. This theorem says why its answer
    *unsat* suffices. *)
Fixpoint questions (K : theorems) (l : list item) : option (list question) :=
  match l with
  | [] => Some []
  | i :: l =>
      match check K (item_theorem i) (item_facts i) (item_proof i), questions (M.add (item_name i) (item_theorem i) K) l with
      | Some qs, Some r => Some (qs ++ r)
      | _, _ => None
      end
  end.
Theorem questions_sound l qs :
  questions library l = Some qs -> Forall unsat qs -> Forall true_item l.
Proof.
  revert qs. generalize library, library_ok. induction l as [|i l IH]; intros K HK qs H U; [constructor|].
  cbn [questions] in H. destruct (check K _ _ _) as [q1|] eqn:E; try discriminate.
  destruct (questions _ l) as [q2|] eqn:E2; try discriminate. inversion H; subst.
  apply Forall_app in U. destruct U as [U1 U2].
  assert (T : true_item i).
  { eapply check_sound; eauto. eapply Forall_impl; [|exact U1]. exact unsat_valid. }
  constructor; [exact T|]. apply (IH (M.add (item_name i) (item_theorem i) K)) with (qs := q2); auto.
  intros n t. destruct (Pos.eq_dec n (item_name i)) as [->|ne].
  - rewrite M.gss. intro X. inversion X; subst. apply T.
  - rewrite M.gso by auto. apply HK.
Qed.
