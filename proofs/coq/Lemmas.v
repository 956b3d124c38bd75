(** The lemma library: the 14 lemmas of [layoutdsl/proof/kernel/lemmas.py], each proved in Coq.

    [layoutdsl-check --lemmas proofs/lemmas.json] compares these statements with the file. The
    names [a b A B k q r x E] are the numbers 1 to 9. *)
From Coq Require Import ZArith List Bool PArith Lia FMapPositive.
Require Import Syntax Check.
Import ListNotations.
Open Scope Z_scope.

Definition a_ := Var 1. Definition b_ := Var 2. Definition A_ := Var 3. Definition B_ := Var 4.
Definition k_ := Var 5. Definition q_ := Var 6. Definition r_ := Var 7. Definition x_ := Var 8. Definition E_ := Var 9.
Definition plus := Op OAdd. Definition minus := Op OSub. Definition times := Op OMul.
Definition quot := Op ODiv. Definition remd := Op OMod.
Definition feq := Rel REq. Definition fle := Rel RLe. Definition flt := Rel RLt.
Definition zero := Num 0. Definition one := Num 1.
Definition mk vs hs gs := {| vars := vs; defs := []; hyps := hs; goals := gs |}.
Definition joined := plus (times a_ B_) b_.
Definition ceiling := quot (plus E_ (minus B_ one)) B_.
Definition neighbours := times x_ (plus x_ one).

Definition PRODUCT := mk [1; 2]%positive []
  [Imp (And (fle zero a_) (fle zero b_)) (fle zero (times a_ b_))].
Definition DIVISION := mk [8; 4]%positive [flt zero B_]
  [feq (plus (times (quot x_ B_) B_) (remd x_ B_)) x_; fle zero (remd x_ B_); flt (remd x_ B_) B_].
Definition POSITIVE := mk [1; 2]%positive [flt zero a_; flt zero b_] [flt zero (times a_ b_)].
Definition MONOTONE := mk [1; 2; 5]%positive [fle a_ b_; fle zero k_] [fle (times a_ k_) (times b_ k_)].
Definition BOUND := mk [1; 2; 3; 4]%positive [fle zero a_; fle a_ A_; fle zero b_; fle b_ B_]
  [fle zero (times a_ b_); fle (times a_ b_) (times A_ B_)].
Definition UNIQUE := mk [6; 7; 1; 2; 4]%positive
  [fle zero r_; flt r_ B_; fle zero b_; flt b_ B_; feq (plus (times q_ B_) r_) joined]
  [feq q_ a_; feq r_ b_].
Definition EUCLID := mk [1; 2; 4]%positive [fle zero b_; flt b_ B_]
  [feq (quot joined B_) a_; feq (remd joined B_) b_].
Definition CONGRUENT := mk [1; 2; 4]%positive [flt zero B_]
  [feq (remd joined B_) (remd b_ B_); flt (remd b_ B_) B_].
Definition PAIR := mk [1; 2; 3; 4]%positive [fle zero a_; flt a_ A_; fle zero b_; flt b_ B_]
  [fle zero joined; flt joined (times A_ B_); feq (quot joined B_) a_; feq (remd joined B_) b_].
Definition UNPAIR := mk [8; 3; 4]%positive [fle zero x_; flt x_ (times A_ B_); flt zero B_]
  [fle zero (quot x_ B_); flt (quot x_ B_) A_; fle zero (remd x_ B_); flt (remd x_ B_) B_;
   feq (plus (times (quot x_ B_) B_) (remd x_ B_)) x_].
Definition CEILING := mk [9; 4]%positive [flt zero E_; flt zero B_]
  [flt zero ceiling; fle E_ (times ceiling B_)].
Definition MIRROR := mk [9; 4]%positive [flt zero B_]
  [feq (quot (minus zero E_) B_) (minus zero ceiling)].
Definition FACTOR := mk [1; 2]%positive [fle zero a_; flt zero (times a_ b_)] [flt zero b_].
Definition PARITY := mk [8]%positive []
  [feq (times (Num 2) (quot neighbours (Num 2))) neighbours].

Lemma forall_nil A (P : A -> Prop) : Forall P [] <-> True.
Proof. split; auto. Qed.
Lemma forall_cons A (P : A -> Prop) x l : Forall P (x :: l) <-> P x /\ Forall P l.
Proof. split; [intro H; now inversion H|intros []; now constructor]. Qed.

(* State a lemma about plain integers. *)
Ltac open_thm :=
  let D := fresh "D" in let v := fresh "v" in intros D v _; unfold all; cbn -[Z.mul Z.add Z.sub Z.le Z.lt];
  rewrite ?forall_cons, ?forall_nil; cbn -[Z.mul Z.add Z.sub Z.le Z.lt];
  generalize (v 1%positive) (v 2%positive) (v 3%positive) (v 4%positive) (v 5%positive)
             (v 6%positive) (v 7%positive) (v 8%positive) (v 9%positive);
  intros a b A B k q r x E.
(* Replace quotient and remainder of [x] by [B] by unknowns, with their definition. *)
Ltac division x B H :=
  let q := fresh "qq" in let m := fresh "mm" in
  rewrite ?(quo_ok _ x B H), ?(rem_ok _ x B H);
  pose proof (Z.div_mod x B ltac:(lia)); pose proof (Z.mod_pos_bound x B H);
  set (q := x / B) in *; set (m := x mod B) in *; clearbody q m.

Lemma product_ok : true_theorem PRODUCT. Proof. open_thm. intuition nia. Qed.
Lemma division_ok : true_theorem DIVISION.
Proof. open_thm. intros [H _]. division x B H. repeat split; nia. Qed.
Lemma positive_ok : true_theorem POSITIVE. Proof. open_thm. intuition nia. Qed.
Lemma monotone_ok : true_theorem MONOTONE. Proof. open_thm. intuition nia. Qed.
Lemma bound_ok : true_theorem BOUND. Proof. open_thm. intuition nia. Qed.
Lemma unique q r a b B : 0 <= r < B -> 0 <= b < B -> q * B + r = a * B + b -> q = a /\ r = b.
Proof. intros. assert (q = a) by nia. subst. lia. Qed.
Lemma unique_ok : true_theorem UNIQUE.
Proof. open_thm. intros. destruct (unique q r a b B); tauto || lia. Qed.
Lemma euclid a b B : 0 <= b < B -> (a * B + b) / B = a /\ (a * B + b) mod B = b.
Proof.
  intro H. apply (unique _ _ _ _ B); auto; [apply Z.mod_pos_bound; lia|].
  pose proof (Z.div_mod (a * B + b) B). lia.
Qed.
Lemma euclid_ok : true_theorem EUCLID.
Proof.
  open_thm. intros (H1 & H2 & _). rewrite quo_ok, rem_ok by lia.
  destruct (euclid a b B); auto.
Qed.
Lemma congruent_ok : true_theorem CONGRUENT.
Proof.
  open_thm. intros [H _]. rewrite !rem_ok by lia. repeat split; [|apply Z.mod_pos_bound; lia].
  now rewrite Z.add_comm, Z.mod_add by lia.
Qed.
Lemma pair_ok : true_theorem PAIR.
Proof.
  open_thm. intros (H1 & H2 & H3 & H4 & _). rewrite quo_ok, rem_ok by lia.
  destruct (euclid a b B); auto. repeat split; auto; nia.
Qed.
Lemma unpair_ok : true_theorem UNPAIR.
Proof. open_thm. intros (H1 & H2 & H3 & _). division x B H3. repeat split; nia. Qed.
Lemma ceiling_ok : true_theorem CEILING.
Proof. open_thm. intros (H1 & H2 & _). division (E + (B - 1)) B H2. repeat split; nia. Qed.
Lemma mirror_ok : true_theorem MIRROR.
Proof.
  open_thm. intros [H _]. division (E + (B - 1)) B H. division (0 - E) B H. repeat split. nia.
Qed.
Lemma factor_ok : true_theorem FACTOR. Proof. open_thm. intuition nia. Qed.
Lemma parity_ok : true_theorem PARITY.
Proof.
  open_thm. intros _. split; auto. rewrite quo_ok by lia.
  assert (x * (x + 1) mod 2 = 0).
  { rewrite Z.mul_mod, Z.add_mod by lia. pose proof (Z.mod_pos_bound x 2).
    assert (x mod 2 = 0 \/ x mod 2 = 1) as [-> | ->] by lia; reflexivity. }
  pose proof (Z.div_mod (x * (x + 1)) 2). lia.
Qed.

Definition lemmas : list theorem :=
  [PRODUCT; DIVISION; POSITIVE; MONOTONE; BOUND; UNIQUE; EUCLID; CONGRUENT; PAIR; UNPAIR; CEILING;
   MIRROR; FACTOR; PARITY].
Theorem lemmas_ok : Forall true_theorem lemmas.
Proof.
  repeat (constructor; [first [exact product_ok|exact division_ok|exact positive_ok|exact monotone_ok
    |exact bound_ok|exact unique_ok|exact euclid_ok|exact congruent_ok|exact pair_ok|exact unpair_ok
    |exact ceiling_ok|exact mirror_ok|exact factor_ok|exact parity_ok]|]). constructor.
Qed.

(** The library, as theorems number 1 to 14. *)
Definition library : theorems :=
  snd (fold_left (fun nk th => (Pos.succ (fst nk), M.add (fst nk) th (snd nk))) lemmas (1%positive, M.empty theorem)).
Theorem library_ok n th : M.find n library = Some th -> true_theorem th.
Proof.
  unfold library.
  assert (G : forall l n0 k, Forall true_theorem l -> (forall m t, M.find m k = Some t -> true_theorem t) ->
    forall m t, M.find m (snd (fold_left (fun nk th => (Pos.succ (fst nk), M.add (fst nk) th (snd nk))) l (n0, k))) = Some t -> true_theorem t).
  { induction l as [|t0 l IH]; simpl; intros n0 k F K m t; [apply K|]. inversion F; subst.
    apply IH; auto. intros m' t'. destruct (Pos.eq_dec m' n0) as [->|ne].
    - rewrite M.gss. intro X. inversion X; subst. assumption.
    - rewrite M.gso by auto. apply K. }
  apply G; [exact lemmas_ok|]. intros m t. rewrite M.gempty. discriminate.
Qed.
