/** Schemas of passkeys; the WebAuthn types follow its JSON serialization (WebAuthn level 3 §5.1.8, §5.1.9). */
import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { Id, Input, Name, Nullable, PageOf, Timestamp } from '../../http/schemas.ts';
import { SessionsEndedCount } from '../sign-in/model.ts';

const ChallengeId = () =>
  Type.String({ minLength: 1, maxLength: 100, remedy: 'Give the challengeId that came with the options.' });

/** `maxLength` allows the longest credential id, 1,023 bytes (WebAuthn §4), and attestation statements. */
const Base64Url = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[A-Za-z0-9_-]+$',
    remedy: 'Give what the browser answered, in base64url.',
  });
const CREDENTIAL_ID_LENGTH = Math.ceil((1023 * 4) / 3);

/** Allows unknown members: browsers add their own. */
const Credential = <Response extends TProperties>(response: Response) =>
  Type.Object(
    {
      id: Base64Url(CREDENTIAL_ID_LENGTH),
      rawId: Base64Url(CREDENTIAL_ID_LENGTH),
      type: Type.Literal('public-key', { remedy: 'Give what the browser answered.' }),
      response: Type.Object(response, { remedy: 'Give what the browser answered.' }),
      clientExtensionResults: Type.Optional(Type.Object({})),
    },
    { remedy: 'Give what the browser answered.' },
  );

const AssertionCredential = Credential({
  clientDataJSON: Base64Url(8000),
  authenticatorData: Base64Url(4000),
  signature: Base64Url(12_000),
  userHandle: Type.Optional(Nullable(Base64Url(100))),
});
export type AssertionCredential = Static<typeof AssertionCredential>;

const AttestationCredential = Credential({
  clientDataJSON: Base64Url(8000),
  attestationObject: Base64Url(100_000),
  transports: Type.Optional(
    Type.Array(Type.String({ maxLength: 32 }), { maxItems: 10, remedy: 'Give at most 10 transports.' }),
  ),
});
export type AttestationCredential = Static<typeof AttestationCredential>;

const Ceremony = {
  challengeId: Id('chl'),
  expiresAt: Timestamp(),
};

export const PasskeyOptionsInput = Input({
  clientId: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The application to sign in to.',
    remedy: 'Give the clientId of an application.',
  }),
});

export const AssertionOptions = Type.Object({
  ...Ceremony,
  options: Type.Object({}, { description: 'PublicKeyCredentialRequestOptionsJSON, for `navigator.credentials.get`.' }),
});
export type AssertionOptions = Static<typeof AssertionOptions>;

export const PasskeySignInInput = Input({ challengeId: ChallengeId(), credential: AssertionCredential });
export type PasskeySignInInput = Static<typeof PasskeySignInInput>;

export const AttestationOptions = Type.Object({
  ...Ceremony,
  options: Type.Object(
    {},
    { description: 'PublicKeyCredentialCreationOptionsJSON, for `navigator.credentials.create`.' },
  ),
});
export type AttestationOptions = Static<typeof AttestationOptions>;

export const NewPasskeyInput = Input({
  challengeId: ChallengeId(),
  credential: AttestationCredential,
  name: Type.Optional(Name()),
});
export type NewPasskeyInput = Static<typeof NewPasskeyInput>;

export const PasskeyPatch = Input({ name: Name() });

export const PasskeyRecord = Type.Object(
  {
    id: Id('psk'),
    name: Nullable(Name()),
    isBackedUp: Type.Boolean({ description: 'Whether a password manager keeps it, so that it survives its device.' }),
    createdAt: Timestamp(),
    lastUsedAt: Nullable(Timestamp()),
  },
  { $id: 'Passkey' },
);
export type PasskeyRecord = Static<typeof PasskeyRecord>;

export const PasskeyPage = PageOf(PasskeyRecord);

export const PasskeyRemoved = Type.Object({ id: Id('psk'), sessionsEnded: SessionsEndedCount });
export type PasskeyRemoved = Static<typeof PasskeyRemoved>;
