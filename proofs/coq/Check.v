(** The steps of a proof, the function [check] that follows them, and its soundness.

    The definitions are a program, and the rest proves the theorem [check_sound]. A reader who
    trusts Coq needs only the statement of [check_sound]. *)

From Coq Require Import ZArith List Bool PArith Lia FMapPositive.
Require Import Syntax Poly.
Import ListNotations.
Open Scope Z_scope.
Module M := PositiveMap.

(** * Steps

    The same five steps as in [layoutdsl/proof/kernel/theorem.py]. Names of variables, facts and
    theorems are numbers, each kind counted by itself. *)

Inductive move :=
| Ring (t : term)                       (** the term so far equals [t] as a polynomial *)
| By (fact : positive) (back : bool).   (** replace one side of an equation by the other *)

Inductive step :=
| Define (x : positive) (t : term) (fact : positive)
    (** the new name [x] stands for [t] *)
| Have (fact : positive) (f : formula) (premises : list positive)
    (** the premises imply [f]: a question that remains to be answered *)
| Use (facts : list positive) (thm : positive) (values : list (positive * term))
      (premises : list positive)
    (** an earlier theorem, with terms in place of its names; one fact for each of its goals *)
| Calculate (fact : positive) (t : term) (moves : list move)
    (** [t] equals the result of the moves *)
| Rewrite (fact source : positive) (moves : list move).
    (** an earlier fact after the moves *)

(** * Scopes *)

Definition names := M.t unit.
Definition known (N : names) (x : positive) : bool :=
  match M.find x N with Some _ => true | _ => false end.

Fixpoint closed_term (N : names) (t : term) : bool :=
  match t with
  | Num _ => true
  | Var x => known N x
  | Op _ a b => closed_term N a && closed_term N b
  end.
Fixpoint closed_formula (N : names) (f : formula) : bool :=
  match f with
  | Rel _ a b => closed_term N a && closed_term N b
  | And f g | Or f g | Imp f g => closed_formula N f && closed_formula N g
  | Not f => closed_formula N f
  end.

(** Definitions are accepted in order: each name is new, and its term uses earlier names only.
    A definition such as [y := y + 1] would otherwise add a false equation. *)
Fixpoint add_definitions (N : names) (ds : list (positive * term)) : option names :=
  match ds with
  | [] => Some N
  | (x, t) :: ds =>
      if negb (known N x) && closed_term N t then add_definitions (M.add x tt N) ds else None
  end.
Fixpoint add_variables (N : names) (xs : list positive) : option names :=
  match xs with
  | [] => Some N
  | x :: xs => if known N x then None else add_variables (M.add x tt N) xs
  end.

(** * Equality, substitution, replacement *)

Definition rel_eqb (r s : rel) :=
  match r, s with REq, REq | RLe, RLe | RLt, RLt => true | _, _ => false end.
Fixpoint formula_eqb (f g : formula) : bool :=
  match f, g with
  | Rel r a b, Rel s c d => rel_eqb r s && term_eqb a c && term_eqb b d
  | And a b, And c d | Or a b, Or c d | Imp a b, Imp c d => formula_eqb a c && formula_eqb b d
  | Not a, Not b => formula_eqb a b
  | _, _ => false
  end.
Fixpoint formulas_eqb (l k : list formula) : bool :=
  match l, k with
  | [], [] => true
  | f :: l, g :: k => formula_eqb f g && formulas_eqb l k
  | _, _ => false
  end.

(** [subst] replaces names, all at once. *)
Fixpoint subst (s : positive -> term) (t : term) : term :=
  match t with Num z => Num z | Var x => s x | Op o a b => Op o (subst s a) (subst s b) end.
Fixpoint subst_formula (s : positive -> term) (f : formula) : formula :=
  match f with
  | Rel r a b => Rel r (subst s a) (subst s b)
  | And f g => And (subst_formula s f) (subst_formula s g)
  | Or f g => Or (subst_formula s f) (subst_formula s g)
  | Imp f g => Imp (subst_formula s f) (subst_formula s g)
  | Not f => Not (subst_formula s f)
  end.

(** [replace_term] replaces every occurrence of one term by another. *)
Fixpoint replace_term (old new t : term) : term :=
  if term_eqb t old then new else
  match t with Op o a b => Op o (replace_term old new a) (replace_term old new b) | _ => t end.
Fixpoint replace_in_formula (old new : term) (f : formula) : formula :=
  match f with
  | Rel r a b => Rel r (replace_term old new a) (replace_term old new b)
  | And f g => And (replace_in_formula old new f) (replace_in_formula old new g)
  | Or f g => Or (replace_in_formula old new f) (replace_in_formula old new g)
  | Imp f g => Imp (replace_in_formula old new f) (replace_in_formula old new g)
  | Not f => Not (replace_in_formula old new f)
  end.

(** * Following a proof *)

(** [facts] are found by name, [derived] are all facts so far, [to_answer] the open questions.
    A later fact may take the name of an earlier one; the earlier one stays derived. *)
Record state := { facts : M.t formula; derived : list formula; to_answer : list question }.
Definition fact (s : state) (n : positive) : option formula := M.find n (facts s).
Definition add_fact (n : positive) (f : formula) (s : state) : state :=
  {| facts := M.add n f (facts s); derived := f :: derived s; to_answer := to_answer s |}.
Definition add_question (q : question) (s : state) : state :=
  {| facts := facts s; derived := derived s; to_answer := q :: to_answer s |}.

Fixpoint lookup_facts (s : state) (ns : list positive) : option (list formula) :=
  match ns with
  | [] => Some []
  | n :: ns =>
      match fact s n, lookup_facts s ns with Some f, Some fs => Some (f :: fs) | _, _ => None end
  end.
Fixpoint add_facts (ns : list positive) (fs : list formula) (s : state) : option state :=
  match ns, fs with
  | [], [] => Some s
  | n :: ns, f :: fs => add_facts ns fs (add_fact n f s)
  | _, _ => None
  end.

(** Both sides of the equation named [n], in the order in which they are used. *)
Definition sides (s : state) (n : positive) (back : bool) : option (term * term) :=
  match fact s n with
  | Some (Rel REq a b) => Some (if back then (b, a) else (a, b))
  | _ => None
  end.
Fixpoint move_term (s : state) (t : term) (ms : list move) : option term :=
  match ms with
  | [] => Some t
  | Ring u :: ms => if equal_polynomials t u then move_term s u ms else None
  | By n back :: ms =>
      match sides s n back with
      | Some (old, new) => move_term s (replace_term old new t) ms
      | None => None
      end
  end.
Fixpoint move_formula (s : state) (f : formula) (ms : list move) : option formula :=
  match ms with
  | [] => Some f
  | Ring _ :: _ => None
  | By n back :: ms =>
      match sides s n back with
      | Some (old, new) => move_formula s (replace_in_formula old new f) ms
      | None => None
      end
  end.

(** Theorems that were confirmed before, by number. *)
Definition theorems := M.t theorem.

(** The term of each name in a [Use]; a name without a value stands for itself. *)
Definition lookup (vals : list (positive * term)) : positive -> term :=
  let m := fold_left (fun m d => M.add (fst d) (snd d) m) vals (M.empty term) in
  fun x => match M.find x m with Some t => t | None => Var x end.

Definition follow (K : theorems) (s : state) (st : step) : option state :=
  match st with
  | Define x t n => Some (add_fact n (equation (x, t)) s)
  | Have n f ps =>
      match lookup_facts s ps with
      | Some fs => Some (add_fact n f (add_question (fs, f) s))
      | None => None
      end
  | Use ns k vals ps =>
      match M.find k K, lookup_facts s ps with
      | Some th, Some fs =>
          let sub := subst_formula (lookup vals) in
          if formulas_eqb (map sub (hyps th ++ map equation (defs th))) fs
          then add_facts ns (map sub (goals th)) s else None
      | _, _ => None
      end
  | Calculate n t ms =>
      match move_term s t ms with Some u => Some (add_fact n (Rel REq t u) s) | None => None end
  | Rewrite n src ms =>
      match fact s src with
      | Some f =>
          match move_formula s f ms with Some g => Some (add_fact n g s) | None => None end
      | None => None
      end
  end.
Fixpoint follow_all (K : theorems) (s : state) (p : list step) : option state :=
  match p with
  | [] => Some s
  | st :: p => match follow K s st with Some s' => follow_all K s' p | None => None end
  end.

Definition definitions_of (p : list step) : list (positive * term) :=
  flat_map (fun st => match st with Define x t _ => [(x, t)] | _ => [] end) p.

(** A proof starts with the hypotheses, then the definitions, as facts. The caller chooses their
    names, which do not matter for soundness. *)
Definition initial_state (names : list positive) (th : theorem) : option state :=
  add_facts names (hyps th ++ map equation (defs th))
    {| facts := M.empty formula; derived := []; to_answer := [] |}.

(** Return the questions on which the theorem rests, or [None] if the proof does not prove it.
    All [Define] steps are checked before the first step is followed, so that one valuation of
    all names exists from the start. *)
Definition check (K : theorems) (th : theorem) (ns : list positive) (p : list step)
    : option (list question) :=
  match add_variables (M.empty unit) (vars th) with
  | None => None
  | Some Nv =>
  match add_definitions Nv (defs th) with
  | None => None
  | Some N =>
  if forallb (closed_formula N) (hyps th) && forallb (closed_formula N) (goals th) then
    match add_definitions N (definitions_of p), initial_state ns th with
    | Some _, Some s =>
        match follow_all K s p with
        | Some s' =>
            if forallb (fun g => existsb (formula_eqb g) (derived s')) (goals th)
            then Some (to_answer s') else None
        | None => None
        end
    | _, _ => None
    end
  else None
  end end.

(** * Soundness

    In three sentences. The definitions of theorem and proof are new and in order, so every
    valuation of the theorem's names extends to all names ([extend_ok]). Each step keeps all
    facts true of that valuation ([follow_ok]). The goals use the theorem's names only, where
    both valuations agree ([closed_formula_ok]). *)


Lemma rel_eqb_eq r s : rel_eqb r s = true -> r = s.
Proof. destruct r, s; simpl; congruence. Qed.
Lemma formula_eqb_eq f : forall g, formula_eqb f g = true -> f = g.
Proof.
  induction f; destruct g; simpl; try discriminate; intro H;
    repeat (apply andb_true_iff in H; destruct H as [H ?]).
  - apply rel_eqb_eq in H. repeat match goal with E : term_eqb _ _ = true |- _ => apply term_eqb_eq in E end. congruence.
  - f_equal; auto.
  - f_equal; auto.
  - f_equal; auto.
  - f_equal; auto.
Qed.
Lemma formulas_eqb_eq l : forall k, formulas_eqb l k = true -> l = k.
Proof.
  induction l; destruct k; simpl; try discriminate; auto. intro H.
  apply andb_true_iff in H. destruct H as [H1 H2]. apply formula_eqb_eq in H1. f_equal; auto.
Qed.

Section Sem.
Variable D : division.

Lemma subst_ok s v t : eval D v (subst s t) = eval D (fun x => eval D v (s x)) t.
Proof. induction t; simpl; congruence. Qed.
Lemma subst_formula_ok s v f : holds D v (subst_formula s f) <-> holds D (fun x => eval D v (s x)) f.
Proof.
  induction f; simpl; try tauto.
  destruct r; now rewrite !subst_ok.
Qed.
Lemma replace_term_ok v old new t : eval D v old = eval D v new -> eval D v (replace_term old new t) = eval D v t.
Proof.
  intro E. induction t; cbn [replace_term]; destruct (term_eqb _ old) eqn:T;
    try (apply term_eqb_eq in T; subst old; congruence); auto.
  simpl. congruence.
Qed.
Lemma replace_in_formula_ok v old new f : eval D v old = eval D v new -> (holds D v (replace_in_formula old new f) <-> holds D v f).
Proof.
  intro E. induction f; simpl; try tauto.
  destruct r; now rewrite !replace_term_ok.
Qed.

Definition agree (N : names) (v w : valuation) := forall x, known N x = true -> v x = w x.
Lemma closed_term_ok N v w t : agree N v w -> closed_term N t = true -> eval D v t = eval D w t.
Proof.
  intro A. induction t; simpl; intro C; auto.
  apply andb_true_iff in C. destruct C. rewrite IHt1, IHt2; auto.
Qed.
Lemma closed_formula_ok N v w f : agree N v w -> closed_formula N f = true -> (holds D v f <-> holds D w f).
Proof.
  intro A. induction f; simpl; intro C; try (apply andb_true_iff in C; destruct C as [C1 C2]).
  - rewrite (closed_term_ok N v w a A C1), (closed_term_ok N v w b A C2). tauto.
  - rewrite IHf1, IHf2; tauto.
  - rewrite IHf1, IHf2; tauto.
  - rewrite IHf1, IHf2; tauto.
  - rewrite IHf; tauto.
Qed.
Lemma known_add N x y : known (M.add x tt N) y = true <-> y = x \/ known N y = true.
Proof.
  unfold known. destruct (Pos.eq_dec y x) as [->|n].
  - rewrite M.gss. tauto.
  - rewrite M.gso by auto. intuition congruence.
Qed.
Lemma extend_ok ds : forall N N' v, add_definitions N ds = Some N' ->
  agree N v (extend D ds v) /\ all D (extend D ds v) (map equation ds) /\
  (forall x, known N x = true -> known N' x = true).
Proof.
  induction ds as [|[x t] ds IH]; intros N N' v H; simpl in H.
  - inversion H; subst. split; [|split]; simpl; auto. intros y _. reflexivity. constructor.
  - destruct (negb (known N x) && closed_term N t) eqn:E; try discriminate.
    apply andb_true_iff in E. destruct E as [E C]. apply negb_true_iff in E.
    destruct (IH _ _ (update v x (eval D v t)) H) as (A & B & K). simpl.
    assert (A0 : agree N v (extend D ds (update v x (eval D v t)))).
    { intros y Y. rewrite <- A by (apply known_add; auto).
      unfold update. destruct (Pos.eqb_spec y x); congruence. }
    split; [exact A0|split].
    + constructor; [|exact B]. unfold equation. simpl.
      rewrite <- (closed_term_ok N _ _ t A0 C), <- A by (apply known_add; auto).
      unfold update. now rewrite Pos.eqb_refl.
    + intros y Y. apply K, known_add. auto.
Qed.

(** If all open questions are valid, then all facts of the state are true of [v]. *)
Definition sound_state (v : valuation) (s : state) : Prop :=
  Forall valid (to_answer s) ->
  (forall n f, fact s n = Some f -> holds D v f) /\ all D v (derived s).

Lemma sound_state_add v n f s : sound_state v s -> (Forall valid (to_answer s) -> sound_state v s -> holds D v f) -> sound_state v (add_fact n f s).
Proof.
  intros G H Q. simpl in Q. destruct (G Q) as [F S]. split.
  - intros m g E. unfold fact, add_fact in E. simpl in E. destruct (Pos.eq_dec m n) as [->|ne].
    + rewrite M.gss in E. inversion E; subst. auto.
    + rewrite M.gso in E by auto. eauto.
  - constructor; auto.
Qed.
Lemma add_facts_ok v ns : forall fs s s', add_facts ns fs s = Some s' ->
  sound_state v s -> (Forall valid (to_answer s) -> all D v fs) -> sound_state v s' /\ to_answer s' = to_answer s.
Proof.
  induction ns as [|n ns IH]; destruct fs as [|f fs]; simpl; intros s s' H G A; inversion H; subst.
  - auto.
  - apply (IH fs (add_fact n f s)) in H; auto.
    + apply sound_state_add; auto. intros Q _. specialize (A Q). now inversion A.
    + simpl. intro Q. specialize (A Q). now inversion A.
Qed.
Lemma lookup_facts_ok v s ns : forall fs, lookup_facts s ns = Some fs ->
  (forall n f, fact s n = Some f -> holds D v f) -> all D v fs.
Proof.
  induction ns as [|n ns IH]; simpl; intros fs H F.
  - inversion H. constructor.
  - destruct (fact s n) eqn:E; try discriminate. destruct (lookup_facts s ns); try discriminate.
    inversion H; subst. constructor; [eauto|apply IH; auto].
Qed.
Lemma sides_ok v s n back old new : (forall n f, fact s n = Some f -> holds D v f) ->
  sides s n back = Some (old, new) -> eval D v old = eval D v new.
Proof.
  unfold sides. intros F H. destruct (fact s n) as [f|] eqn:E; try discriminate.
  apply F in E. destruct f as [[] a b| | | |]; try discriminate. simpl in E.
  destruct back; inversion H; subst; congruence.
Qed.
Lemma move_term_ok v s ms : (forall n f, fact s n = Some f -> holds D v f) ->
  forall t u, move_term s t ms = Some u -> eval D v t = eval D v u.
Proof.
  intro F. induction ms as [|[u0|n back] ms IH]; simpl; intros t u H.
  - congruence.
  - destruct (equal_polynomials t u0) eqn:E; try discriminate. apply (equal_polynomials_ok D v) in E. rewrite E. auto.
  - destruct (sides s n back) as [[old new]|] eqn:E; try discriminate.
    apply (sides_ok v) in E; auto. rewrite <- (replace_term_ok v old new t E). auto.
Qed.
Lemma move_formula_ok v s ms : (forall n f, fact s n = Some f -> holds D v f) ->
  forall f g, move_formula s f ms = Some g -> holds D v f -> holds D v g.
Proof.
  intro F. induction ms as [|[u0|n back] ms IH]; simpl; intros f g H A.
  - congruence.
  - discriminate.
  - destruct (sides s n back) as [[old new]|] eqn:E; try discriminate.
    apply (sides_ok v) in E; auto. apply (IH _ _ H). now apply replace_in_formula_ok.
Qed.

Lemma follow_ok K v s st s' :
  (forall n th, M.find n K = Some th -> true_theorem th) ->
  all D v (map equation (definitions_of [st])) ->
  follow K s st = Some s' -> sound_state v s -> sound_state v s' /\ (Forall valid (to_answer s') -> Forall valid (to_answer s)).
Proof.
  intros HK HD H G. destruct st as [x t n|n f ps|ns k vals ps|n t ms|n src ms]; cbn [follow] in H.
  - inversion H; subst. split; auto. apply sound_state_add; auto. intros _ _. simpl in HD. now inversion HD.
  - destruct (lookup_facts s ps) as [fs|] eqn:E; try discriminate. inversion H; subst. split.
    + apply sound_state_add.
      * intro Q. simpl in Q. inversion Q; subst. now apply G.
      * simpl. intros Q _. inversion Q as [|q qs V Qs]; subst.
        apply V. simpl. eapply lookup_facts_ok; eauto. apply G. exact Qs.
    + simpl. intro Q. now inversion Q.
  - destruct (M.find k K) as [th|] eqn:EK; try discriminate.
    destruct (lookup_facts s ps) as [fs|] eqn:E; try discriminate. cbv zeta in H.
    destruct (formulas_eqb _ fs) eqn:EF; try discriminate. apply formulas_eqb_eq in EF.
    apply (add_facts_ok v) in H; auto.
    + destruct H as [H ->]. auto.
    + intro Q. destruct (G Q) as [F _].
      assert (A : all D v fs) by (eapply lookup_facts_ok; eauto).
      rewrite <- EF in A. rewrite map_app in A. apply Forall_app in A. destruct A as [A1 A2].
      assert (L : forall l, all D v (map (subst_formula (lookup vals)) l) <->
                            all D (fun x => eval D v (lookup vals x)) l).
      { intro l. unfold all. rewrite Forall_map. split; intro W;
          (eapply Forall_impl; [|exact W]); intros a Ha; now apply subst_formula_ok. }
      apply L. apply L in A1, A2. exact (HK _ _ EK D _ A2 A1).
  - destruct (move_term s t ms) as [u|] eqn:E; try discriminate. inversion H; subst. split; auto.
    apply sound_state_add; auto. intros Q GG. simpl. eapply move_term_ok; eauto. apply GG. exact Q.
  - destruct (fact s src) as [f|] eqn:E; try discriminate.
    destruct (move_formula s f ms) as [g|] eqn:Eg; try discriminate. inversion H; subst. split; auto.
    apply sound_state_add; auto. intros Q GG. destruct (GG Q) as [F _]. eapply move_formula_ok; eauto.
Qed.
Lemma follow_all_ok K v p : (forall n th, M.find n K = Some th -> true_theorem th) ->
  forall s s', all D v (map equation (definitions_of p)) -> follow_all K s p = Some s' -> sound_state v s ->
  sound_state v s' /\ (Forall valid (to_answer s') -> Forall valid (to_answer s)).
Proof.
  intro HK. induction p as [|st p IH]; intros s s' HD H G; cbn [follow_all] in H.
  - inversion H; subst. auto.
  - destruct (follow K s st) as [s1|] eqn:E; try discriminate.
    assert (HD' : all D v (map equation (definitions_of [st])) /\ all D v (map equation (definitions_of p))).
    { unfold definitions_of in *. simpl in *. rewrite map_app in HD. apply Forall_app in HD.
      rewrite app_nil_r. exact HD. }
    destruct HD' as [H1 H2]. eapply follow_ok in E; eauto. destruct E as [G1 Q1].
    destruct (IH s1 s' H2 H G1) as [G2 Q2]. auto.
Qed.
End Sem.

(** The main theorem: if everything in [K] is true, [check] returns questions, and all of them
    are valid, then the theorem is true in both readings of Syntax.v. *)
Theorem check_sound K th ns p qs :
  (forall n th, M.find n K = Some th -> true_theorem th) ->
  check K th ns p = Some qs -> Forall valid qs -> true_theorem th /\ true_as_written th.
Proof.
  intros HK H HQ. unfold check in H.
  destruct (add_variables _ _) as [Nv|] eqn:EB; try discriminate.
  destruct (add_definitions Nv (defs th)) as [N|] eqn:ES; try discriminate.
  destruct (_ && _) eqn:EC; try discriminate. apply andb_true_iff in EC. destruct EC as [CH CG].
  destruct (add_definitions N (definitions_of p)) as [N'|] eqn:ED; try discriminate.
  destruct (initial_state ns th) as [s|] eqn:EI; try discriminate.
  destruct (follow_all K s p) as [s'|] eqn:EF; try discriminate.
  destruct (forallb (fun g => existsb _ _) _) eqn:EG; try discriminate. inversion H; subst qs. clear H.
  rewrite forallb_forall in CH, CG, EG.
  assert (T : true_theorem th).
  { intros D v HD HH.
    destruct (extend_ok D (definitions_of p) N N' v ED) as (A & B & _).
    set (w := extend D (definitions_of p) v) in *.
    assert (HHw : all D w (hyps th)).
    { apply Forall_forall. intros f I. apply (closed_formula_ok D N v w f A (CH f I)).
      unfold all in HH. rewrite Forall_forall in HH. auto. }
    assert (HDw : all D w (map equation (defs th))).
    { clear - ES A HD. apply Forall_forall. intros f I.
      unfold all in HD. rewrite Forall_forall in HD. specialize (HD f I).
      apply in_map_iff in I. destruct I as ([x t] & <- & I).
      assert (C : known N x = true /\ closed_term N t = true).
      { clear - ES I. revert Nv ES I. induction (defs th) as [|[y u] ds IH]; intros Nv ES I; [easy|].
        simpl in ES. destruct (_ && _) eqn:E; try discriminate.
        apply andb_true_iff in E. destruct E as [_ C].
        assert (MON : forall z, known (M.add y tt Nv) z = true -> known N z = true).
        { intros z. set (DD := {| quo := Z.div; rem := Z.modulo; quo_ok := fun x b _ => eq_refl; rem_ok := fun x b _ => eq_refl |}).
          destruct (extend_ok DD ds _ _ (fun _ => 0) ES) as (_ & _ & K). apply K. }
        destruct I as [I|I].
        - inversion I; subst. split.
          + apply MON, known_add. auto.
          + clear - MON C. induction t; simpl in *; auto.
            * apply MON, known_add. auto.
            * apply andb_true_iff in C. apply andb_true_iff. tauto.
        - eapply IH; eauto. }
      destruct C as [C1 C2]. unfold equation in *. simpl in *.
      rewrite <- (A x C1), <- (closed_term_ok D N v w t A C2). exact HD. }
    assert (G : sound_state D w s).
    { unfold initial_state in EI. apply (add_facts_ok D w) in EI.
      - apply EI.
      - intros _. split; simpl; [|constructor]. intros n f. unfold fact. simpl. rewrite M.gempty. discriminate.
      - intros _. apply Forall_app. auto. }
    destruct (follow_all_ok D K w p HK s s' B EF G) as [G' _].
    destruct (G' HQ) as [_ S]. unfold all in S. rewrite Forall_forall in S.
    apply Forall_forall. intros g I. apply (closed_formula_ok D N v w g A (CG g I)).
    specialize (EG g I). apply existsb_exists in EG. destruct EG as (h & Ih & E).
    apply formula_eqb_eq in E. subst h. auto. }
  split; [exact T|].
  intros D v w HH. apply T; auto.
  destruct (extend_ok D (defs th) Nv N v ES) as (_ & B & _). exact B.
Qed.

(** The answer *unsat* of a solver, to the text in which products of unknowns are arbitrary
    functions, makes a question valid: products are one of these functions. *)
Definition as_opaque (D : division) : opaque := {| any_product := Z.mul; any_quotient := quo D; any_remainder := rem D |}.
Lemma eval_opaque_ok D v t : eval_opaque (as_opaque D) v t = eval D v t.
Proof.
  induction t as [z|x|o a IHa b IHb]; auto. cbn [eval_opaque eval]. rewrite IHa, IHb.
  destruct o; simpl; auto.
  - destruct (_ || _); reflexivity.
  - destruct b; auto. destruct (0 <? z) eqn:E; auto. apply Z.ltb_lt in E. simpl. now rewrite quo_ok.
  - destruct b; auto. destruct (0 <? z) eqn:E; auto. apply Z.ltb_lt in E. simpl. now rewrite rem_ok.
Qed.
Lemma holds_opaque_ok D v f : holds_opaque (as_opaque D) v f <-> holds D v f.
Proof. induction f; simpl; try tauto. destruct r; now rewrite !eval_opaque_ok. Qed.
Theorem unsat_valid q : unsat q -> valid q.
Proof.
  intros U D v H. apply holds_opaque_ok. apply U. unfold all in H. eapply Forall_impl; [|exact H].
  intros a Ha. now apply holds_opaque_ok.
Qed.
