//! What each crate expands that generates types from the interface.

/// A record whose fields have the same names on both sides.
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    ($($wit:ident)::+ => $($core:ident)::+ { $($field:ident),* $(,)? }) => {
        impl $crate::ToWit<$($wit)::+> for $($core)::+ {
            fn to_wit(self) -> $($wit)::+ {
                $($wit)::+ { $($field: $crate::ToWit::to_wit(self.$field)),* }
            }
        }
        impl $crate::FromWit<$($wit)::+> for $($core)::+ {
            fn from_wit(value: $($wit)::+) -> Result<Self, ::stigmergate_core::error::Error> {
                Ok($($core)::+ { $($field: $crate::FromWit::from_wit(value.$field)
                    .map_err(|error: ::stigmergate_core::error::Error| error.within(stringify!($field)))?),* })
            }
        }
    };
}

/// An enum whose cases have the same names on both sides.
#[doc(hidden)]
#[macro_export]
macro_rules! choice {
    ($wit:ty => $core:ty { $($case:ident),* $(,)? }) => {
        impl $crate::ToWit<$wit> for $core {
            fn to_wit(self) -> $wit {
                match self { $(<$core>::$case => <$wit>::$case),* }
            }
        }
        impl $crate::FromWit<$wit> for $core {
            fn from_wit(value: $wit) -> Result<Self, ::stigmergate_core::error::Error> {
                Ok(match value { $(<$wit>::$case => <$core>::$case),* })
            }
        }
    };
}

/// A proposal: its evidence is a JSON text in the interface.
#[doc(hidden)]
#[macro_export]
macro_rules! proposal {
    ($($wit:ident)::+ => $($core:ident)::+ { $($field:ident),* $(,)? }) => {
        impl $crate::ToWit<$($wit)::+> for $($core)::+ {
            fn to_wit(self) -> $($wit)::+ {
                $($wit)::+ { evidence_json: self.evidence.as_json().into(), $($field: $crate::ToWit::to_wit(self.$field)),* }
            }
        }
        impl $crate::FromWit<$($wit)::+> for $($core)::+ {
            fn from_wit(value: $($wit)::+) -> Result<Self, ::stigmergate_core::error::Error> {
                Ok($($core)::+ {
                    evidence: $crate::evidence(&value.evidence_json).map_err(|error| error.within("evidence"))?,
                    $($field: $crate::FromWit::from_wit(value.$field)
                        .map_err(|error: ::stigmergate_core::error::Error| error.within(stringify!($field)))?),*
                })
            }
        }
    };
}

/// All conversions. Expects the crate `alloc`, and in scope a module `wit` that holds the generated modules `types`, `kernel` and `ledger`.
#[macro_export]
macro_rules! conversions {
    () => {
        mod conversions {
            use super::wit::{kernel as wk, ledger as wl, types as wt};
            use ::stigmergate_core::attest::key::Algorithm;
            use ::stigmergate_core::attest::envelope::{Claim, ClaimKind};
            use ::stigmergate_core::attest::verify::Report;
            use ::stigmergate_core::budget::{Answer, Balance, Charge, Cost, Dimension, Violation};
            use ::stigmergate_core::error::{Error, Field};
            use ::stigmergate_core::facts::{Act, Before, Call, Class, Effect, Fact, Root, Target};
            use ::stigmergate_core::falsify::{Finding, Report as Findings, ReportVerdict, Severity, Texts};
            use ::stigmergate_core::field::{Channels, Decay, Kind, Signal, Source, Summary, Trace};
            use ::stigmergate_core::gate::{Components, Decision, Reason, Tier, Verdict};
            use ::stigmergate_core::kernel as core_kernel;
            use ::stigmergate_core::location::{Form, Location};
            use ::stigmergate_core::policy::{Caps, Preset};
            use ::stigmergate_core::proposal::Proposal;
            use ::stigmergate_core::prune::{Candidate, Ground, Module};
            use ::stigmergate_core::trust::{HistoryEntry, Profile, Record, Role};
            use $crate::{FromWit, ToWit, choice, record};

            choice!(wt::LocationForm => Form { Path, Name, Raw, Own });
            choice!(wt::Dimension => Dimension { LlmCalls, RuntimeSeconds, RiskLevel, HumanAttentionMinutes, MergeRisk, DocDebt, SecurityExposure });
            choice!(wt::ActClass => Class { Read, Check, Write, Execute, Network, Delete, Deploy });
            choice!(wt::Effect => Effect { Read, Create, Edit, Overwrite, Delete, Move, Mode });
            choice!(wt::PlaceRoot => Root { Workspace, Temp, Home, Outside });
            choice!(wt::PlaceState => Before { Absent, Committed, Changed, Untracked, Ignored, Unknown });
            choice!(wt::Decision => Decision { Execute, Hold, Refuse });
            choice!(wt::Tier => Tier { Clear, Medium, High });
            choice!(wt::Severity => Severity { Low, Medium, High, Critical });
            choice!(wt::FindingsVerdict => ReportVerdict { Pass, Conditional, Fail });
            choice!(wt::Role => Role { Sandbox, RepairAnt, MemoryAnt, Dispatcher, GuardAnt });
            choice!(wt::Signal => Signal { Failure, Success, Risk, Need, Dependency, HumanPriority });
            choice!(wt::Decay => Decay { Fast, Normal, Slow });
            choice!(wt::Source => Source { Human, Test, Security, Agent, Runtime });
            choice!(wt::PruneGround => Ground { Duplicate, NeverUsed, IdleUnused, IdleRare });
            choice!(wt::Preset => Preset { Reference, Standard, Strict });
            choice!(wt::Stage => core_kernel::Stage { Judged, Approved, Authorized, Executed, Concluded, Rejected, Incident });
            choice!(wl::ClaimKind => ClaimKind { Receipt, Outcome });
            choice!(wl::Algorithm => Algorithm { Ed25519, HmacSha256 });

            record!(wt::Cost => Cost { llm_calls, runtime_seconds, risk_level, human_attention_minutes, merge_risk, doc_debt, security_exposure });
            record!(wt::Caps => Caps { llm_calls, runtime_seconds, risk_level, human_attention_minutes, merge_risk, doc_debt, security_exposure });
            record!(wt::Fact => Fact { kind, detail });
            record!(wt::Target => Target {
                place, effect, root, before, folder, resolved, catastrophic, count, lost, lost_more, way_back, stamp,
            });
            record!(wt::Act => Act { class, kind, place, words, targets, facts, dry_run });
            record!(wt::ToolCall => Call { tool, session, digest, acts, facts });
            record!(wt::Components => Components { budget, risk, trust, completeness });
            record!(wt::Reason => Reason { code, subject, value, limit });
            record!(wt::Finding => Finding { vector, severity, cause, detail });
            record!(wt::Findings => Findings { findings, verdict });
            record!(wt::Violation => Violation { account, dimension, projected, cap });
            record!(wt::BudgetAnswer => Answer { approved, violation });
            record!(wt::Trace => Trace { location, kind, signal, decay, source, strength });
            record!(wt::Channels => Channels { risk, failure });
            record!(wt::FieldSummary => Summary { traces, by_signal, by_source, by_decay, max, min, mean });
            record!(wt::Balance => Balance { used, reserved, lifetime });
            record!(wt::Charge => Charge { at, agent, cost });
            record!(wt::Agent => core_kernel::AgentView {
                id, trust, role, specialised, proposals, accepted, recent_failures, success_rate, balance,
            });
            record!(wt::HistoryEntry => HistoryEntry { id, passed, repair });
            record!(wt::ActionRecord => Record { outcomes, clean });
            record!(wt::Profile => Profile { trust, role, proposals, accepted, history, actions });
            record!(wt::Module => Module { path, last_used, call_count, duplicate_of });
            record!(wt::PruneCandidate => Candidate { path, ground, confidence });
            record!(wt::Remembered => core_kernel::ProposalView { id, state, at, deadline, digest, estimate, verdict, lifecycle });
            record!(wt::Counts => core_kernel::Counts {
                commands, executed, held, refused, approved, denied, outcomes, observed, incidents,
            });
            record!(wt::LedgerState => core_kernel::LedgerView { origin, size, root, key, incomplete });
            record!(wt::Status => core_kernel::Status {
                preset, policy, now, tick, ticks, traces, agents, proposals, waiting, counts, ledger,
            });
            record!(wt::Verdict => Verdict {
                id, agent, decision, score, components, risk, failure, prospective, hazard, hazard_at, tier, overridden, reasons,
                required_evidence, findings, severity, budget, role, trust, class, tick, expires_at, policy,
            });

            record!(wk::Approve => core_kernel::Approve { proposal_id, by, digest, feedback, standing_seconds });
            record!(wk::Approval => core_kernel::Approval { proposal_id, by, digest, expires_at, standing_until, over_budget });
            record!(wk::Deny => core_kernel::Deny { proposal_id, by, reason, feedback });
            record!(wk::Denial => core_kernel::Denial { proposal_id, by, failure });
            record!(wk::OutcomeReport => core_kernel::OutcomeReport {
                proposal, tests_passed, repair_needed, summary, cost, human_feedback,
            });
            record!(wk::Outcome => core_kernel::OutcomeReply {
                proposal_id, agent_id, trust_delta, trust, role, total_proposals, accepted_proposals, recent_failures, cost,
            });
            record!(wk::Observation => core_kernel::Observation { proposal_id, ok, interrupted, stamps, cost });
            record!(wk::Observed => core_kernel::ObservedReply {
                proposal_id, late_approval, incident, repeated, marked, cleared, trust_delta,
            });
            record!(wk::Deposit => core_kernel::DepositRequest { location, signal, strength, source, decay, trust_factor });
            record!(wk::Ticked => core_kernel::Ticked { tick, counted, expired });
            record!(wk::Calmed => core_kernel::Calmed { traces, used, ticks });
            record!(wk::KeyEvent => core_kernel::KeyReply { sequence, leaf, origin, key });
            record!(wk::Authorization => core_kernel::AuthorizationReply { sequence, leaf, proposal_id, actor, arguments, expires });
            record!(wk::Receive => core_kernel::Receive { authorization, actor, arguments, receipt, started, claim });
            record!(wk::Receipt => core_kernel::ReceiptReply { sequence, leaf, authorization, proposal_id, signer });
            record!(wk::Conclusion => core_kernel::ConclusionReply { sequence, leaf, outcome, signer });
            record!(wl::Claim => Claim { kind, log, parent, content });

            impl ToWit<wt::Location> for Location {
                fn to_wit(self) -> wt::Location {
                    wt::Location { form: self.form().to_wit(), text: self.as_str().into() }
                }
            }
            impl FromWit<wt::Location> for Location {
                fn from_wit(value: wt::Location) -> Result<Self, Error> {
                    Ok(match value.form {
                        wt::LocationForm::Path => Self::path(&value.text),
                        wt::LocationForm::Name => Self::name(&value.text),
                        wt::LocationForm::Raw => Self::raw(&value.text),
                        wt::LocationForm::Own => Self::own(&value.text),
                    })
                }
            }

            impl ToWit<wt::Texts> for Texts {
                fn to_wit(self) -> wt::Texts {
                    match self {
                        Self::Text(text) => wt::Texts::Text(text),
                        Self::List(texts) => wt::Texts::Many(texts),
                    }
                }
            }
            impl FromWit<wt::Texts> for Texts {
                fn from_wit(value: wt::Texts) -> Result<Self, Error> {
                    Ok(match value {
                        wt::Texts::Text(text) => Self::Text(text),
                        wt::Texts::Many(texts) => Self::List(texts),
                    })
                }
            }

            impl ToWit<wt::TraceKind> for Kind {
                fn to_wit(self) -> wt::TraceKind {
                    match self {
                        Self::Place => wt::TraceKind::Place,
                        Self::Act(key) => wt::TraceKind::Act(key.to_wit()),
                        Self::Check(key) => wt::TraceKind::Check(key.to_wit()),
                        Self::Prospective => wt::TraceKind::Prospective,
                    }
                }
            }
            impl FromWit<wt::TraceKind> for Kind {
                fn from_wit(value: wt::TraceKind) -> Result<Self, Error> {
                    Ok(match value {
                        wt::TraceKind::Place => Self::Place,
                        wt::TraceKind::Act(key) => Self::Act(key.into()),
                        wt::TraceKind::Check(key) => Self::Check(key.into()),
                        wt::TraceKind::Prospective => Self::Prospective,
                    })
                }
            }

            impl ToWit<wt::Imports> for (::alloc::string::String, ::alloc::vec::Vec<::alloc::string::String>) {
                fn to_wit(self) -> wt::Imports {
                    wt::Imports { module: self.0, imported: self.1 }
                }
            }
            impl FromWit<wt::Imports> for (::alloc::string::String, ::alloc::vec::Vec<::alloc::string::String>) {
                fn from_wit(value: wt::Imports) -> Result<Self, Error> {
                    Ok((value.module, value.imported))
                }
            }

            $crate::proposal!(wt::Proposal => Proposal {
                agent_id, proposal_id, agent_type, action_type, target, rationale, rollback_plan, expected_outcome, budget_estimate, tests,
                metrics, scope, dependencies, maintenance_plan, owner, ownership, deprecation_plan, runbook, imports, class, call,
            });

            impl ToWit<wk::Subject> for core_kernel::Subject {
                fn to_wit(self) -> wk::Subject {
                    match self {
                        Self::Id(id) => wk::Subject::Id(id),
                        Self::Proposal(proposal) => wk::Subject::Proposal(proposal.to_wit()),
                    }
                }
            }
            impl FromWit<wk::Subject> for core_kernel::Subject {
                fn from_wit(value: wk::Subject) -> Result<Self, Error> {
                    Ok(match value {
                        wk::Subject::Id(id) => Self::Id(id),
                        wk::Subject::Proposal(proposal) => Self::Proposal(FromWit::from_wit(proposal)?),
                    })
                }
            }

            impl ToWit<wt::ProposalState> for core_kernel::State {
                fn to_wit(self) -> wt::ProposalState {
                    match self {
                        Self::Open => wt::ProposalState::Open,
                        Self::Held => wt::ProposalState::Held,
                        Self::Refused => wt::ProposalState::Refused,
                        Self::Approved { by } => wt::ProposalState::Approved(wt::ApprovedState { by }),
                        Self::Used { retry } => wt::ProposalState::Used(wt::UsedState { retry }),
                        Self::Denied { by } => wt::ProposalState::Denied(wt::DeniedState { by }),
                        Self::Settled => wt::ProposalState::Settled,
                        Self::Unanswered => wt::ProposalState::Unanswered,
                        Self::Lapsed => wt::ProposalState::Lapsed,
                    }
                }
            }
            impl FromWit<wt::ProposalState> for core_kernel::State {
                fn from_wit(value: wt::ProposalState) -> Result<Self, Error> {
                    Ok(match value {
                        wt::ProposalState::Open => Self::Open,
                        wt::ProposalState::Held => Self::Held,
                        wt::ProposalState::Refused => Self::Refused,
                        wt::ProposalState::Approved(approved) => Self::Approved { by: approved.by },
                        wt::ProposalState::Used(used) => Self::Used { retry: used.retry },
                        wt::ProposalState::Denied(denied) => Self::Denied { by: denied.by },
                        wt::ProposalState::Settled => Self::Settled,
                        wt::ProposalState::Unanswered => Self::Unanswered,
                        wt::ProposalState::Lapsed => Self::Lapsed,
                    })
                }
            }

            impl ToWit<wt::Lifecycle> for core_kernel::LifecycleView {
                fn to_wit(self) -> wt::Lifecycle {
                    let core_kernel::Lifecycle { proposal, verdict, approval, authorization, receipt, outcome, rejection, error } = self.events;
                    let stage = self.stage.to_wit();
                    wt::Lifecycle { stage, proposal, verdict, approval, authorization, receipt, outcome, rejection, error }
                }
            }
            impl FromWit<wt::Lifecycle> for core_kernel::LifecycleView {
                fn from_wit(value: wt::Lifecycle) -> Result<Self, Error> {
                    let wt::Lifecycle { stage, proposal, verdict, approval, authorization, receipt, outcome, rejection, error } = value;
                    let events = core_kernel::Lifecycle { proposal, verdict, approval, authorization, receipt, outcome, rejection, error };
                    Ok(Self { stage: FromWit::from_wit(stage)?, events })
                }
            }

            impl ToWit<wl::Report> for Report {
                fn to_wit(self) -> wl::Report {
                    wl::Report {
                        status: self.status.as_str().into(),
                        last_valid: self.last_valid,
                        records: self.records,
                        root: self.root.to_wit(),
                        incomplete: self.incomplete,
                        fault: self.fault.map(|fault| Error::from(fault).to_wit()),
                    }
                }
            }

            impl ToWit<wt::Error> for Error {
                fn to_wit(self) -> wt::Error {
                    match self {
                        Self::Number { field } => wt::Error::Number(wt::NumberError { field: field.as_str().into() }),
                        Self::Value { field, expected } => wt::Error::Value(wt::ValueError { field: field.as_str().into(), expected }),
                        Self::TooLong { field, size, limit } => {
                            wt::Error::TooLong(wt::SizeError { field: field.as_str().into(), size, limit })
                        }
                        Self::Json { detail } => wt::Error::Json(wt::JsonError { detail }),
                        Self::Policy { field, expected } => wt::Error::Policy(wt::PolicyError { field: field.as_str().into(), expected }),
                        Self::Unavailable { feature, reason } => wt::Error::Unavailable(wt::UnavailableError { feature, reason }),
                        Self::IdConflict { id } => wt::Error::IdConflict(wt::ConflictError { id }),
                        Self::UnknownProposal { id } => wt::Error::UnknownProposal(wt::UnknownError { id }),
                        Self::WrongState { id, state, expected } => wt::Error::WrongState(wt::StateError { id, state, expected }),
                        Self::NotAllowed { actor, reason } => wt::Error::NotAllowed(wt::PermissionError { actor, reason }),
                        Self::Full { what, limit } => wt::Error::Full(wt::FullError { what, limit }),
                        Self::Corrupt { what, detail } => wt::Error::Corrupt(wt::CorruptError { what, detail }),
                        Self::Version { what, found, supported } => wt::Error::Version(wt::VersionError { what, found, supported }),
                        other => wt::Error::Other(wt::CodedError {
                            code: other.code().into(),
                            field: other.field().map(|field| field.as_str().into()),
                            message: ::alloc::string::ToString::to_string(&other),
                            json: $crate::error_json(&other),
                        }),
                    }
                }
            }
            impl FromWit<wt::Error> for Error {
                fn from_wit(value: wt::Error) -> Result<Self, Error> {
                    Ok(match value {
                        wt::Error::Number(error) => Self::Number { field: Field::new(&error.field) },
                        wt::Error::Value(error) => Self::Value { field: Field::new(&error.field), expected: error.expected },
                        wt::Error::TooLong(error) => {
                            Self::TooLong { field: Field::new(&error.field), size: error.size, limit: error.limit }
                        }
                        wt::Error::Json(error) => Self::Json { detail: error.detail },
                        wt::Error::Policy(error) => Self::Policy { field: Field::new(&error.field), expected: error.expected },
                        wt::Error::Unavailable(error) => Self::Unavailable { feature: error.feature, reason: error.reason },
                        wt::Error::IdConflict(error) => Self::IdConflict { id: error.id },
                        wt::Error::UnknownProposal(error) => Self::UnknownProposal { id: error.id },
                        wt::Error::WrongState(error) => Self::WrongState { id: error.id, state: error.state, expected: error.expected },
                        wt::Error::NotAllowed(error) => Self::NotAllowed { actor: error.actor, reason: error.reason },
                        wt::Error::Full(error) => Self::Full { what: error.what, limit: error.limit },
                        wt::Error::Corrupt(error) => Self::Corrupt { what: error.what, detail: error.detail },
                        wt::Error::Version(error) => {
                            Self::Version { what: error.what, found: error.found, supported: error.supported }
                        }
                        wt::Error::Other(error) => $crate::error_of_json(&error.json, &error.message),
                    })
                }
            }
        }
    };
}
