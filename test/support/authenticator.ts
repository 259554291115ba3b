/** An authenticator in software: creates and uses passkeys as a browser does, or wrongly where a test says so. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** Claims of the authenticator and its browser; a test can falsify each. */
export interface Claims {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  /** Whether the page is in another site's frame; undefined is sent as false, null is left out. */
  readonly crossOrigin?: unknown;
  readonly topOrigin?: string;
  readonly isUserVerified?: boolean;
  readonly isUserPresent?: boolean;
  readonly counter?: number;
  /** Null is left out. */
  readonly userHandle?: string | null;
  readonly credentialId?: Uint8Array;
  readonly format?: string;
  readonly statement?: Map<string, unknown>;
  readonly aaguid?: string;
}

export interface SoftPasskey {
  readonly credentialId: Uint8Array;
  readonly privateKey: KeyObject;
  readonly userHandle: string;
  counter: number;
}

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { id?: string };
  readonly user: { id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId?: string;
}

const ORIGIN = 'http://localhost:8080';
const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest();

/** Answers `navigator.credentials.create` with an ES256 key. */
export function createPasskey(options: CreationOptions, claims: Claims = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const credentialId = claims.credentialId ?? crypto.getRandomValues(new Uint8Array(32));
  const cose = new Map<number, number | Uint8Array>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, new Uint8Array(Buffer.from(x!, 'base64url'))],
    [-3, new Uint8Array(Buffer.from(y!, 'base64url'))],
  ]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(credentialId.length);
  const attested = Buffer.concat([
    Buffer.from((claims.aaguid ?? '00000000-0000-0000-0000-000000000000').replaceAll('-', ''), 'hex'),
    length,
    credentialId,
    isoCBOR.encode(cose as never),
  ]);
  const authenticatorData = authenticatorDataOf(claims.rpId ?? options.rp.id ?? 'localhost', claims, attested);
  const attestation = new Map<string, unknown>([
    ['fmt', claims.format ?? 'none'],
    ['attStmt', claims.statement ?? new Map()],
    ['authData', new Uint8Array(authenticatorData)],
  ]);
  const id = base64url(credentialId);
  const passkey: SoftPasskey = {
    credentialId,
    privateKey,
    userHandle: options.user.id,
    counter: claims.counter ?? 0,
  };
  return {
    passkey,
    credential: {
      id,
      rawId: id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: { credProps: { rk: true } },
      response: {
        clientDataJSON: clientDataOf('webauthn.create', options.challenge, claims),
        attestationObject: base64url(isoCBOR.encode(attestation as never)),
        transports: ['internal', 'hybrid'],
      },
    },
  };
}

/** Answers `navigator.credentials.get`. A counter of zero stays zero; any other increases. */
export function usePasskey(passkey: SoftPasskey, options: RequestOptions, claims: Claims = {}) {
  if (claims.counter === undefined && passkey.counter > 0) passkey.counter += 1;
  const counter = claims.counter ?? passkey.counter;
  const rpId = claims.rpId ?? options.rpId ?? 'localhost';
  const authenticatorData = authenticatorDataOf(rpId, { ...claims, counter }, null);
  const clientDataJSON = clientDataOf('webauthn.get', options.challenge, claims);
  const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
  const id = base64url(claims.credentialId ?? passkey.credentialId);
  const userHandle = claims.userHandle === undefined ? passkey.userHandle : claims.userHandle;
  return {
    id,
    rawId: id,
    type: 'public-key',
    authenticatorAttachment: 'platform',
    clientExtensionResults: {},
    response: {
      clientDataJSON,
      authenticatorData: base64url(authenticatorData),
      signature: base64url(sign('sha256', signed, passkey.privateKey)),
      ...(userHandle !== null && { userHandle }),
    },
  };
}

function clientDataOf(type: string, challenge: string, claims: Claims): string {
  return base64url(
    JSON.stringify({
      type: claims.type ?? type,
      challenge: claims.challenge ?? challenge,
      origin: claims.origin ?? ORIGIN,
      crossOrigin: claims.crossOrigin === null ? undefined : (claims.crossOrigin ?? false),
      topOrigin: claims.topOrigin,
    }),
  );
}

function authenticatorDataOf(rpId: string, claims: Claims, attested: Uint8Array | null): Buffer {
  const { isUserPresent = true, isUserVerified = true, counter = 0 } = claims;
  const counted = Buffer.alloc(4);
  counted.writeUInt32BE(counter);
  const flags = (isUserPresent ? 1 : 0) | (isUserVerified ? 4 : 0) | (attested ? 64 : 0);
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), counted, attested ?? Buffer.alloc(0)]);
}
