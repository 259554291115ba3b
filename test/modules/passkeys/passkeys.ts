/** Shared by the passkey tests: a person with a passkey. */
import { createPasskey, type Claims, type SoftPasskey, usePasskey } from '../../support/authenticator.ts';
import type { Answer, Instance } from '../../support/instance.ts';

export const registrationOptions = (instance: Instance, token: string) =>
  instance.call('POST', '/api/account/passkeys/options', { token });

export async function register(
  instance: Instance,
  token: string,
  { claims, name }: { claims?: Claims; name?: string } = {},
): Promise<Answer & { passkey: SoftPasskey }> {
  const asked = await registrationOptions(instance, token);
  const { challengeId, options } = asked.json.data;
  const { passkey, credential } = createPasskey(options, claims);
  const answer = await instance.call('POST', '/api/account/passkeys', {
    token,
    body: { challengeId, credential, ...(name !== undefined && { name }) },
  });
  return { ...answer, passkey };
}

export const signInOptions = (instance: Instance, clientId: string) =>
  instance.call('POST', '/api/v1/auth/passkey/options', { body: { clientId } });

export async function signInWith(
  instance: Instance,
  clientId: string,
  passkey: SoftPasskey,
  claims: Claims = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { challengeId, options } = (await signInOptions(instance, clientId)).json.data;
  return instance.call('POST', '/api/v1/auth/passkey/verify', {
    body: { challengeId, credential: usePasskey(passkey, options, claims) },
    headers,
  });
}

export const problemOf = ({ status, json }: Answer) => [status, json.error ?? 'ok'];
