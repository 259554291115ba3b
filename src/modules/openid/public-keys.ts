import { importJWK, type JWK } from 'jose';
import type { PublicJwk } from '../../store/oauth-clients.ts';

/** Members that only private and symmetric keys have (RFC 7518 §6). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const MAX_KEY_LENGTH = 4000;
const LEAST_RSA_BYTES = 2048 / 8;

/** Returns the algorithm to try a key with; null for a kind of key that is not supported. */
function algorithmOf({ kty, crv }: PublicJwk): string | null {
  if (kty === 'RSA') return 'RS256';
  if (kty === 'EC' && crv === 'P-256') return 'ES256';
  return kty === 'OKP' && crv === 'Ed25519' ? 'EdDSA' : null;
}

/** Returns a sentence that says how to correct a client's public key; null for a usable one. */
export async function publicKeyProblem(jwk: PublicJwk): Promise<string | null> {
  if (PRIVATE.some((name) => name in jwk)) return 'Give the public key alone; this one has private parts.';
  const alg = algorithmOf(jwk);
  if (alg === null) return 'Give an RSA, P-256 or Ed25519 key.';
  if (JSON.stringify(jwk).length > MAX_KEY_LENGTH) return `Give a key of at most ${MAX_KEY_LENGTH} characters.`;
  if (alg === 'RS256' && Buffer.from(String(jwk['n'] ?? ''), 'base64url').length < LEAST_RSA_BYTES)
    return 'Give an RSA key of at least 2048 bits.';
  try {
    await importJWK(jwk as JWK, alg);
    return null;
  } catch {
    return 'Give a valid JWK (RFC 7517).';
  }
}
