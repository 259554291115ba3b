/** Creates WebAuthn options and verifies answers; callers check challenges, ownership, uniqueness and counters. */
import { base64url } from 'oslo/encoding';
import { AppError } from '../../core/error.ts';
import type { RelyingParty } from '../../core/relying-party.ts';
import type { Passkey } from '../../store/passkeys.ts';
import { CHALLENGE_LIFETIME_MS } from './challenges.ts';
import type { AssertionCredential, AttestationCredential } from './model.ts';

/** COSE: Ed25519, ES256, RS256; every authenticator supports one of them. */
const ALGORITHMS = [-8, -7, -257];

type Challenge = Uint8Array<ArrayBuffer>;

const loadLibrary = () => import('./webauthn-library.ts');

type Library = Awaited<ReturnType<typeof loadLibrary>>;

const toBase64Url = (bytes: Uint8Array) => base64url.encode(bytes, { includePadding: false });

/** Returns the opaque user handle (≤ 64 bytes), one per workspace: authenticators keep one passkey per handle. */
const userHandleOf = ({ userId, workspaceId }: Pick<Passkey, 'userId' | 'workspaceId'>) =>
  new TextEncoder().encode(userId + (workspaceId ?? ''));

export interface NewCredentialFor {
  readonly userId: string;
  readonly workspaceId: string | null;
  readonly email: string;
  readonly displayName: string;
  /** Existing passkeys: an authenticator refuses to create a second one. */
  readonly existing: readonly Pick<Passkey, 'credentialId' | 'transports'>[];
}

/** Asks for a discoverable credential with user verification and without attestation. */
export async function creationOptions(rp: RelyingParty, challenge: Challenge, person: NewCredentialFor) {
  const { generateRegistrationOptions } = await loadLibrary();
  return generateRegistrationOptions({
    rpName: 'Gatehouse',
    rpID: rp.id,
    userID: userHandleOf(person),
    userName: person.email,
    userDisplayName: person.displayName,
    challenge,
    timeout: CHALLENGE_LIFETIME_MS,
    attestationType: 'none',
    excludeCredentials: person.existing.map(({ credentialId, transports }) => ({
      id: toBase64Url(credentialId),
      transports: transports as never[],
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** Lists no credentials, so any discoverable one fits. */
export async function requestOptions(rp: RelyingParty, challenge: Challenge) {
  const { generateAuthenticationOptions } = await loadLibrary();
  return generateAuthenticationOptions({
    rpID: rp.id,
    challenge,
    timeout: CHALLENGE_LIFETIME_MS,
    userVerification: 'required',
  });
}

export interface VerifiedCredential {
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: string[];
  readonly aaguid: string;
  readonly isBackedUp: boolean;
}

/** @throws {AppError} passkey_invalid */
export async function verifyCreation(
  rp: RelyingParty,
  challenge: Uint8Array,
  credential: AttestationCredential,
): Promise<VerifiedCredential> {
  const library = await loadLibrary();
  return orInvalid(async () => {
    refuseFrames(library, credential);
    refuseCertificates(library, credential);
    const { verified, registrationInfo } = await library.verifyRegistrationResponse({
      response: { ...credential, clientExtensionResults: {}, response: { ...credential.response, transports: [] } },
      expectedChallenge: toBase64Url(challenge),
      expectedOrigin: [...rp.origins],
      expectedRPID: rp.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) throw new Error('not verified');
    const { credential: made, aaguid, credentialBackedUp } = registrationInfo;
    if (made.id !== credential.id) throw new Error('the ids differ');
    return {
      credentialId: Buffer.from(made.id, 'base64url'),
      publicKey: Buffer.from(made.publicKey),
      counter: made.counter,
      transports: credential.response.transports ?? [],
      aaguid,
      isBackedUp: credentialBackedUp,
    };
  });
}

/** Refuses certificates: none was requested, and checking one would fetch revocation lists from URLs it names. */
function refuseCertificates(
  { decodeAttestationObject, isoBase64URL }: Library,
  { response }: AttestationCredential,
): void {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get('fmt');
  const isSelfSigned = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isSelfSigned) throw new Error(`attestation ${format} was not asked for`);
}

/**
 * Refuses answers from cross-origin frames, where no page of ours runs (WebAuthn level 3 §7.1, §7.2). The library
 * accepts them if the browser does not name the embedding page.
 */
function refuseFrames(
  { decodeClientDataJSON }: Library,
  { response }: { readonly response: { readonly clientDataJSON: string } },
): void {
  const { crossOrigin = false, topOrigin } = decodeClientDataJSON(response.clientDataJSON);
  if (crossOrigin !== false || topOrigin !== undefined) throw new Error('made in a frame of another site');
}

export interface VerifiedAssertion {
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/** Verifies everything but the counter. @throws {AppError} passkey_invalid */
export async function verifyAssertion(
  rp: RelyingParty,
  challenge: Uint8Array,
  credential: AssertionCredential,
  passkey: Passkey,
): Promise<VerifiedAssertion> {
  const library = await loadLibrary();
  return orInvalid(async () => {
    refuseFrames(library, credential);
    const { userHandle, ...response } = credential.response;
    if (userHandle !== toBase64Url(userHandleOf(passkey))) throw new Error('the user handle is another’s');
    const { verified, authenticationInfo } = await library.verifyAuthenticationResponse({
      response: { ...credential, clientExtensionResults: {}, response: { ...response, userHandle } },
      expectedChallenge: toBase64Url(challenge),
      expectedOrigin: [...rp.origins],
      expectedRPID: rp.id,
      requireUserVerification: true,
      // The counter is compared in the database, so that of two concurrent answers only one passes.
      credential: { id: credential.id, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
    });
    if (!verified) throw new Error('the signature is not right');
    return { counter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp };
  });
}

/** Turns every error of the library into one refusal. */
async function orInvalid<Result>(verify: () => Promise<Result>): Promise<Result> {
  try {
    return await verify();
  } catch (cause) {
    throw new AppError('passkey_invalid', { cause });
  }
}
