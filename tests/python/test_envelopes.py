"""The envelopes that leave the machine alone, verified by securesystemslib, the reference implementation of DSSE."""

import base64
import copy
import hashlib
import json
import unittest

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from scene import Scene
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

STATEMENT = "application/vnd.in-toto+json"
PREDICATES = "https://github.com/stigmergate/stigmergate/attest"
RESULT = "ab" * 32


def key_of(verifier_key):
    """The public key in a verifier key of a signed note, under the id that envelopes name it by."""
    name, key_id, material = verifier_key.split("+", 2)
    public = base64.b64decode(material)
    assert public[0] == 1, "Ed25519"
    return key_named(f"{name}+{key_id}", public[1:])


def key_named(key_id, public):
    return SSlibKey(key_id, "ed25519", "ed25519", {"public": public.hex()})


def verifier_key(name, public):
    typed = b"\x01" + public
    key_id = hashlib.sha256(name.encode() + b"\n" + typed).digest()[:4]
    return f"{name}+{key_id.hex()}+{base64.b64encode(typed).decode()}"


class EnvelopesOfAnExecution(unittest.TestCase):
    """One execution that was authorized, received and observed, each signed by a key of its own."""

    @classmethod
    def setUpClass(cls):
        cls.scene = scene = Scene()
        cls.addClassCleanup(scene.close)

        def made(name):
            folder = scene.home / name
            return folder, scene.json("keys", "new", "--folder", folder, "--name", name, "--yes")["key"]

        executor, executors_key = made("executor.example")
        observer, observers_key = made("observer.example")
        keys = f'keys = ["{executors_key}", "{observers_key}"]'
        scene.write_settings(
            f'preset = "strict"\n[trust]\ninitial = 0.9\n[roles]\nmin_proposals = 0\n[attest]\n{keys}\n'
        )
        logs_key = scene.json("keys", "new", "--yes")["key"]
        assert scene.propose("p1")["decision"] == "execute"
        authorized = scene.json("authorize", "p1")
        run = ("--actor", "ag-1", "--arguments", authorized["arguments"], "--result", RESULT)
        received = scene.json("receipt", authorized["sequence"], *run, "--sign-with", executor)
        outcome = ("outcome", "p1", "--passed", "--attested", received["sequence"], "--sign-with", observer)
        concluded = scene.json(*outcome)

        def stated(sequence):
            return json.loads(scene.run("ledger", "prove", sequence, "--statement"))

        cls.authorization, cls.receipt = authorized["sequence"], received["sequence"]
        # By name: the envelope, the key that signed it, its payload's type.
        cls.envelopes = {
            "authorization": (stated(cls.authorization), key_of(logs_key), STATEMENT),
            "receipt": (stated(cls.receipt), key_of(logs_key), STATEMENT),
            "the executor's receipt": (
                json.loads(received["claim"]),
                key_of(executors_key),
                "application/vnd.stigmergate.receipt+json",
            ),
            "the observer's outcome": (
                json.loads(concluded["claim"]),
                key_of(observers_key),
                "application/vnd.stigmergate.outcome+json",
            ),
        }
        cls.received, cls.concluded = received, concluded

    def each(self):
        return [(name, copy.deepcopy(envelope), *rest) for name, (envelope, *rest) in self.envelopes.items()]

    def assert_refused(self, envelope, key):
        with self.assertRaises(VerificationError):
            # It writes into what it reads.
            Envelope.from_dict(copy.deepcopy(envelope)).verify([key], 1)

    def test_each_is_verified_by_its_key(self):
        for name, envelope, key, payload_type in self.each():
            with self.subTest(name):
                read = Envelope.from_dict(copy.deepcopy(envelope))
                self.assertEqual(list(read.verify([key], 1)), [key.keyid])
                self.assertEqual(read.payload_type, payload_type)

    def test_a_payload_with_any_other_byte_is_refused(self):
        for name, envelope, key, _ in self.each():
            with self.subTest(name):
                payload = base64.b64decode(envelope["payload"])
                for place in range(len(payload)):
                    other = payload[:place] + bytes([payload[place] ^ 1]) + payload[place + 1 :]
                    self.assert_refused({**envelope, "payload": base64.b64encode(other).decode()}, key)
                self.assert_refused({**envelope, "payload": base64.b64encode(payload + b" ").decode()}, key)

    def test_a_signature_with_any_other_byte_is_refused(self):
        for name, envelope, key, _ in self.each():
            with self.subTest(name):
                (line,) = envelope["signatures"]
                signature = base64.b64decode(line["sig"])
                self.assertEqual(len(signature), 64)
                for place in range(64):
                    other = signature[:place] + bytes([signature[place] ^ 1]) + signature[place + 1 :]
                    line["sig"] = base64.b64encode(other).decode()
                    self.assert_refused(envelope, key)

    def test_another_key_of_the_same_name_is_refused(self):
        keys = {key.keyid: key for _, key, _ in self.envelopes.values()}
        self.assertEqual(len(keys), 3)
        for name, envelope, key, _ in self.each():
            with self.subTest(name):
                fresh = Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
                self.assert_refused(envelope, key_named(key.keyid, fresh))
                for other in keys.values():
                    if other.keyid != key.keyid:
                        self.assert_refused(envelope, other)
                        self.assert_refused(envelope, SSlibKey(key.keyid, "ed25519", "ed25519", other.keyval))

    def test_a_payload_cannot_be_taken_for_another_sort_of_thing(self):
        for name, envelope, key, _ in self.each():
            with self.subTest(name):
                self.assert_refused({**envelope, "payloadType": "application/json"}, key)

    def test_statements_are_about_the_records_of_the_ledger(self):
        for kind, sequence in (("authorization", self.authorization), ("receipt", self.receipt)):
            statement = json.loads(base64.b64decode(self.envelopes[kind][0]["payload"]))
            shown = self.scene.json("ledger", "show", sequence)
            # The records here hold texts, whole numbers and flags only: sorted and without spaces is RFC 8785.
            record = json.dumps(shown["record"], sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
            self.assertEqual(statement["_type"], "https://in-toto.io/Statement/v1")
            self.assertEqual(statement["predicateType"], f"{PREDICATES}/{kind}/v1")
            (subject,) = statement["subject"]
            self.assertEqual(subject["digest"], {"sha256": hashlib.sha256(record).hexdigest()})
            self.assertEqual(subject["name"], f"{shown['record']['log']}/{sequence}")
            self.assertEqual(statement["predicate"], {"leaf": shown["leaf"], "record": shown["record"]})
            self.assertEqual(hashlib.sha256(b"\0" + record).hexdigest(), shown["leaf"])

    def test_claims_name_what_they_answer_and_what_came_of_it(self):
        shown = {number: self.scene.json("ledger", "show", number) for number in (self.authorization, self.receipt)}
        executors = json.loads(base64.b64decode(self.envelopes["the executor's receipt"][0]["payload"]))
        log = shown[self.receipt]["record"]["log"]
        self.assertEqual(executors, {"content": RESULT, "log": log, "parent": shown[self.authorization]["leaf"]})
        observers = json.loads(base64.b64decode(self.envelopes["the observer's outcome"][0]["payload"]))
        outcome = self.scene.json("ledger", "show", self.concluded["event"])["record"]
        expected = {"content": outcome["outcome"], "log": log, "parent": shown[self.receipt]["leaf"]}
        self.assertEqual(observers, expected)


class AnExecutorInPython(unittest.TestCase):
    """An executor that has nothing of ours signs its receipt with securesystemslib."""

    def test_its_claim_is_taken_and_no_other(self):
        signer, stranger = CryptoSigner.generate_ed25519(), CryptoSigner.generate_ed25519()
        public = bytes.fromhex(signer.public_key.keyval["public"])
        scene = Scene(f'[attest]\nmode = "required"\nkeys = ["{verifier_key("executor.example", public)}"]\n')
        self.addCleanup(scene.close)
        scene.run("keys", "new", "--yes")
        scene.propose("p1")
        authorized = scene.json("authorize", "p1")
        authorization = scene.json("ledger", "show", authorized["sequence"])

        def claim(by, **other):
            claim = {"content": RESULT, "log": authorization["record"]["log"], "parent": authorization["leaf"], **other}
            payload = json.dumps(claim, sort_keys=True, separators=(",", ":")).encode()
            envelope = Envelope(payload, "application/vnd.stigmergate.receipt+json", {})
            envelope.sign(by)
            file = scene.home / "claim"
            file.write_text(json.dumps(envelope.to_dict()))
            return file

        def receive(file, **how):
            run = ("--actor", "ag-1", "--arguments", authorized["arguments"], "--result", RESULT)
            return scene.json("receipt", authorized["sequence"], *run, "--claim", file, **how)

        self.assertEqual(receive(claim(stranger), code=2)["code"], "bad_signature")
        self.assertEqual(receive(claim(signer, parent="0" * 64), code=2)["code"], "unauthorized_link")
        self.assertEqual(receive(claim(signer, content="0" * 64), code=2)["code"], "wrong_digest")
        received = receive(claim(signer))
        self.assertIsNotNone(received["signer"])


if __name__ == "__main__":
    unittest.main()
