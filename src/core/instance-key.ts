/** The instance's own key: derives one key per purpose from it, so that no two uses share key material. */
import { CompactEncrypt, compactDecrypt } from 'jose';
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export const INSTANCE_KEY_BYTES = 32;

/** Digests and encryption under the instance's own key, which itself is never handed out. */
export interface InstanceKey {
  /** Returns a code's HMAC-SHA256, bound to its challenge. From a bare hash, a stolen database would reveal it. */
  codeDigest(challengeId: string, code: string): Uint8Array;
  /** Returns the HMAC-SHA256 of a text for this purpose, for values that must be recognised without being stored. */
  derive(purpose: DerivePurpose, text: string): Uint8Array;
  /**
   * Encrypts a secret that must be read back (a webhook's, a provider client's): JWE compact, `dir` with A256GCM (RFC
   * 7516). The purpose is authenticated, so that a secret sealed for one cannot be opened for another.
   */
  seal(purpose: SealPurpose, secret: string): Promise<string>;
  /** Distinguishes this key from others, and reveals nothing about it: from 1 to 2^31 - 1. */
  readonly mark: number;
  /** @throws if the text was changed, or sealed for another purpose or with another key. */
  unseal(purpose: SealPurpose, sealed: string): Promise<string>;
}

export type SealPurpose = 'webhook' | 'provider' | 'mail server' | 'signing key';

/** The purpose of a derived value; the same text gives a different value for each. */
export type DerivePurpose =
  | 'user code'
  | 'nonce'
  | 'code verifier'
  | 'known browser'
  | 'sign-in trial'
  | 'waitlist standing'
  | 'doctor'
  | 'authorization request'
  | 'authorization decision'
  | 'sign-out';

/** Reads the key's bytes from base64 or base64url. @returns null for anything but 32 bytes. */
export function parseInstanceKey(text: string): Uint8Array | null {
  return /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null;
}

/** @param secret 32 bytes, kept outside the database. Keys are derived by HKDF-SHA256 (RFC 5869). */
export function instanceKey(secret: Uint8Array): InstanceKey {
  if (secret.length !== INSTANCE_KEY_BYTES) throw new RangeError(`an instance key has ${INSTANCE_KEY_BYTES} bytes`);
  const codeKey = Buffer.from(hkdfSync('sha256', secret, '', 'gatehouse code digest v1', 32));
  const deriveKey = Buffer.from(hkdfSync('sha256', secret, '', 'gatehouse derivation v1', 32));
  const sealKey = new Uint8Array(hkdfSync('sha256', secret, '', 'gatehouse sealing v1', 32));
  const mark = createHmac('sha256', deriveKey).update('mark').digest().readUInt32BE(0) >>> 1 || 1;
  return {
    mark,
    codeDigest: (challengeId, code) => createHmac('sha256', codeKey).update(`${challengeId}.${code}`).digest(),
    derive: (purpose, text) => createHmac('sha256', deriveKey).update(`${purpose}\0${text}`).digest(),
    seal: (purpose, text) =>
      new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: purpose })
        .encrypt(sealKey),
    async unseal(purpose, sealed) {
      const { plaintext, protectedHeader } = await compactDecrypt(sealed, sealKey, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      if (protectedHeader.typ !== purpose) throw new Error('sealed for another purpose');
      return new TextDecoder().decode(plaintext);
    },
  };
}

/** Compares two digests in constant time. */
export function equalDigests(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
