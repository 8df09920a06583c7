//! What is asked of the ledger itself: to begin, another key, leave for an execution, a receipt, a linked outcome (SPEC 9).

use super::Kernel;
use super::attestation::{Attestation, Lifecycle, recordable, seed, unattested};
use super::command::{
    AuthorizationReply, Authorize, BeginLedger, Conclude, ConclusionReply, KeyReply, ReceiptReply, Receive, RotateKey,
    Time,
};
use super::proposals::State;
use crate::attest;
use crate::attest::envelope::{Claim, ClaimKind, SignedClaim};
use crate::attest::key::PublicKey;
use crate::attest::ledger::{Ledger, Stamp};
use crate::attest::lifecycle::{Execution, Ground, Judged};
use crate::attest::signer::Ed25519Verifier;
use crate::error::Error;
use crate::location::check_length;
use crate::policy::AttestMode;
use crate::proposal::{GATE, HOST, check_id};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a rotation's nonce is derived from besides the new key: not the signature, which comes after it.
const ROTATION: &str = "rotate_key";

impl Kernel {
    /// Whether there is a ledger to write to.
    fn check_ledger(&self) -> Result<(), Error> {
        if self.policy.attest.mode == AttestMode::Disabled {
            return Err(attest::Error::AttestationDisabled.into());
        }
        if self.attestation.is_none() { Err(attest::Error::AttestationKeyMissing.into()) } else { Ok(()) }
    }

    /// Begins the signed ledger (SPEC 9).
    ///
    /// # Errors
    /// [`attest::Error::AttestationDisabled`] where the policy attests nothing, [`attest::Error::LedgerBegun`] where there is one,
    /// [`Error::Value`] and [`Error::TooLong`] for an origin that cannot be one.
    pub fn begin_ledger(&mut self, at: Time, begin: &BeginLedger) -> Result<KeyReply, Error> {
        if let Some(ledger) = self.ledger() {
            return Err(attest::Error::LedgerBegun { origin: ledger.origin().to_string() }.into());
        }
        check_usable(&begin.key)?;
        let (now, attest) = (self.clock_at(at).now, &self.policy.attest);
        let stamp = Stamp::new(recordable(now), GATE, seed(now, "begin_ledger", begin));
        let (ledger, entry) = Ledger::begin(attest.mode, attest.rules(), &begin.origin, begin.key.clone(), &stamp)?;
        let reply = KeyReply {
            sequence: entry.event.sequence,
            leaf: entry.leaf,
            origin: begin.origin.clone(),
            key: begin.key.clone(),
        };
        self.begin_with(at, Vec::from([entry]));
        self.attestation = Some(Box::new(Attestation::new(ledger)));
        Ok(reply)
    }

    /// Puts another key in force: every head from here on needs it.
    ///
    /// # Errors
    /// [`attest::Error::BadSignature`] unless the key in force has signed [`View::rotation_message`](super::View::rotation_message) of
    /// this time; a ledger of an HMAC key cannot be rotated, since only who has the secret could tell.
    pub fn rotate_key(&mut self, at: Time, rotate: &RotateKey) -> Result<KeyReply, Error> {
        self.check_ledger()?;
        let now = self.clock_at(at).now;
        let drafted = self.draft(now, ROTATION, &rotate.key.verifier_key(), |_, draft| {
            check_usable(&rotate.key)?;
            if *draft.ledger.key() == rotate.key {
                return Err(Error::value("key", "another key than the one in force"));
            }
            let old = Ed25519Verifier::new(draft.ledger.key())?;
            let (stamp, endorsement) = (draft.stamp(GATE), rotate.endorsement.clone());
            let entry = draft.ledger.rotate(&stamp, rotate.key.clone(), endorsement, &old)?;
            let (sequence, leaf) = (entry.event.sequence, entry.leaf);
            draft.keep(entry);
            let (origin, key) = (draft.ledger.origin().to_string(), rotate.key.clone());
            Ok(KeyReply { sequence, leaf, origin, key })
        })?;
        let (reply, entries) = drafted.ok_or(attest::Error::AttestationDisabled)?;
        self.begin_with(at, entries);
        Ok(reply)
    }

    /// What the key in force signs for another to take its place at a time.
    pub(super) fn rotation_message(&self, now: Time, key: &PublicKey) -> Result<Vec<u8>, Error> {
        self.check_ledger()?;
        let stamp = Stamp::new(recordable(now), GATE, seed(now, ROTATION, &key.verifier_key()));
        let ledger = self.ledger().ok_or(attest::Error::AttestationKeyMissing)?;
        Ok(ledger.rotation_message(&stamp, key)?)
    }

    /// Gives leave for one execution of what was judged EXECUTE, or approved. Tool calls that are judged EXECUTE have theirs at once.
    ///
    /// # Errors
    /// [`Error::UnknownProposal`]; [`Error::WrongState`] for what may not run, or was judged before the ledger began;
    /// [`attest::Error::Consumed`] for what has leave; [`Error::Value`] for no time; [`Error::Full`] when as many as may be are open;
    /// [`attest::Error::AttestationDisabled`] and [`attest::Error::AttestationKeyMissing`] without a ledger.
    pub fn authorize(&mut self, at: Time, authorize: &Authorize) -> Result<AuthorizationReply, Error> {
        self.check_ledger()?;
        let id = authorize.proposal_id.as_str();
        if authorize.ttl_ms == Some(0) {
            return Err(Error::value("ttl_ms", "at least 1 millisecond"));
        }
        let clock = self.clock_at(at);
        let record = self.known(id, clock).ok_or_else(|| Error::UnknownProposal { id: id.to_string() })?;
        let state = record.state_at(clock.now);
        let may_run = matches!(state, State::Open | State::Approved { .. }) && !record.observed;
        if !may_run {
            let expected = "open or approved, and not run".to_string();
            return Err(Error::WrongState { id: id.to_string(), state: state.as_str().to_string(), expected });
        }
        let mut life = self.life(id).ok_or_else(|| unattested(id, record))?;
        if life.authorization.is_some() {
            return Err(attest::Error::Consumed { parent: life.ground() }.into());
        }
        let (actor, arguments) = (record.agent.clone(), record.bound_to);
        let expires = self.authorization_ends(clock.now, authorize.ttl_ms);
        let drafted = self.draft(clock.now, "authorize", authorize, |_, draft| {
            let ground = match life.approval {
                Some(approval) => Ground::Approved(draft.ledger.approved(approval)?),
                None => match draft.ledger.judged(life.verdict)? {
                    Judged::Cleared(cleared) => Ground::Cleared(cleared),
                    _ => return Err(attest::Error::unauthorized(life.verdict, "nobody approved it").into()),
                },
            };
            let (_, entry) = draft.ledger.authorize(&draft.stamp(&actor), ground, arguments, expires)?;
            let leaf = entry.leaf;
            Ok((draft.keep(entry), leaf))
        })?;
        let ((sequence, leaf), entries) = drafted.ok_or(attest::Error::AttestationDisabled)?;
        self.begin_with(at, entries);
        life.authorization = Some(sequence);
        self.live(id, Some(life));
        // An approval that has leave is used: no retry may have it besides.
        self.proposals.update(id, |record| {
            record.state = State::Open;
            record.deadline = record.reserved.then_some(expires);
        });
        Ok(AuthorizationReply { sequence, leaf, proposal_id: id.to_string(), actor, arguments, expires })
    }

    /// Records that an executor has run what was authorized.
    ///
    /// # Errors
    /// [`attest::Error::WrongActor`], [`attest::Error::WrongDigest`] and [`attest::Error::Expired`] for what was not authorized,
    /// [`attest::Error::Consumed`] for a second use, [`attest::Error::MissingParent`], [`attest::Error::BadSignature`] for a claim of no
    /// allowed key; without a ledger as [`Kernel::authorize`].
    pub fn receive(&mut self, at: Time, receive: &Receive) -> Result<ReceiptReply, Error> {
        self.check_ledger()?;
        check_id("actor", &receive.actor, &self.policy.bounds)?;
        let claim = self.open_claim(ClaimKind::Receipt, receive.claim.as_deref())?;
        let now = self.clock_at(at).now;
        let id = self.whose_end(receive.authorization);
        let drafted = self.draft(now, "receive", receive, |_, draft| {
            let Receive { arguments, receipt, started, .. } = *receive;
            let authorization = draft.ledger.authorization(receive.authorization)?;
            let execution = Execution { arguments, receipt, started };
            let signed = claim.as_ref().map(|(signed, _)| signed);
            let (_, entry) =
                draft.ledger.record_receipt(&draft.stamp(&receive.actor), authorization, execution, signed)?;
            let leaf = entry.leaf;
            Ok((draft.keep(entry), leaf))
        })?;
        let ((sequence, leaf), entries) = drafted.ok_or(attest::Error::AttestationDisabled)?;
        self.begin_with(at, entries);
        let life = id.as_deref().and_then(|id| self.life(id));
        if let (Some(id), Some(life)) = (&id, life) {
            self.live(id, Some(Lifecycle { receipt: Some(sequence), ..life }));
        }
        Ok(ReceiptReply {
            sequence,
            leaf,
            authorization: receive.authorization,
            proposal_id: life.and(id).map(|id| id.to_string()),
            signer: claim.map(|(signed, _)| *signed.key()),
        })
    }

    /// Records what became of an execution: the outcome that `required` accepts.
    ///
    /// # Errors
    /// As [`Kernel::record_outcome`]; [`attest::Error::UnauthorizedLink`], [`attest::Error::WrongActor`] and
    /// [`attest::Error::WrongDigest`] for the receipt of another proposal, [`attest::Error::Consumed`] for a second outcome,
    /// [`attest::Error::MissingParent`], [`attest::Error::ObserverMissing`] and [`attest::Error::ObserverIsExecutor`] where the policy
    /// wants an independent observer, [`attest::Error::BadSignature`] for a claim of no allowed key; without a ledger as
    /// [`Kernel::authorize`].
    pub fn conclude(&mut self, at: Time, conclude: &Conclude) -> Result<ConclusionReply, Error> {
        self.check_ledger()?;
        let report = &conclude.report;
        check_length("report.summary", &report.summary, self.policy.bounds.text_bytes)?;
        let about = self.about(at, &report.proposal).map_err(|error| error.within("report"))?;
        self.agents.check_room(&about.agent, &self.policy.bounds)?;
        let claim = self.open_claim(ClaimKind::Outcome, conclude.claim.as_deref())?;
        let (life, whose) = (self.life(&about.id), self.whose_end(conclude.receipt));
        // A receipt belongs to one proposal. Where that is forgotten, so must be the one that is concluded.
        let fits = whose.as_deref().map_or(!about.counted, |id| id == about.id);
        let now = self.clock_at(at).now;
        let drafted = self.draft(now, "conclude", conclude, |_, draft| {
            let receipt = draft.ledger.receipt_of(conclude.receipt, &about.agent, &about.bound_to)?;
            if !fits {
                let reason = "it is the receipt of another proposal";
                return Err(attest::Error::unauthorized(conclude.receipt, reason).into());
            }
            let actor = claim.as_ref().map_or(HOST, |(_, name)| name);
            let signed = claim.as_ref().map(|(signed, _)| signed);
            let (_, entry) = draft.ledger.record_outcome(&draft.stamp(actor), receipt, report.digest(), signed)?;
            let leaf = entry.leaf;
            Ok((draft.keep(entry), leaf))
        })?;
        let ((sequence, leaf), entries) = drafted.ok_or(attest::Error::AttestationDisabled)?;
        self.begin_with(at, entries);
        if let Some(life) = life {
            self.live(&about.id, Some(Lifecycle { outcome: Some(sequence), ..life }));
        }
        let outcome = self.settle_outcome(about, report);
        Ok(ConclusionReply { sequence, leaf, outcome, signer: claim.map(|(signed, _)| *signed.key()) })
    }

    /// A claim of an allowed key, with the key's name.
    fn open_claim(&self, kind: ClaimKind, claim: Option<&str>) -> Result<Option<(SignedClaim, String)>, Error> {
        let Some(claim) = claim else { return Ok(None) };
        let mut fault = attest::Error::bad_signature(
            &"claim",
            "none of the keys that the policy names (attest.keys) has signed it as such",
        );
        for key in &self.policy.attest.keys {
            match Claim::open(kind, claim, &Ed25519Verifier::new(key)?) {
                Ok(signed) => return Ok(Some((signed, key.name().to_string()))),
                // The next key may have.
                Err(attest::Error::BadSignature { .. }) => {}
                Err(error) => fault = error,
            }
        }
        Err(fault.into())
    }
}

/// An Ed25519 key must be one that verifies.
fn check_usable(key: &PublicKey) -> Result<(), Error> {
    if key.algorithm() == crate::attest::key::Algorithm::Ed25519 {
        Ed25519Verifier::new(key)?;
    }
    Ok(())
}
