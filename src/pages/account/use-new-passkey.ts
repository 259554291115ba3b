/** Creates a passkey: requests options, runs the browser's ceremony and registers the result. */
import { useState } from 'preact/hooks';
import type { Failure } from '../browser/api.ts';
import { createPasskey, type CreationOptions } from '../browser/webauthn.ts';
import { accountFailureText } from './failure-words.ts';
import { useTexts } from '../components/texts.tsx';
import { useAccount } from './account-context.tsx';

export interface OwnPasskey {
  readonly id: string;
  readonly name: string | null;
  readonly isBackedUp: boolean;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

interface Challenge {
  readonly challengeId: string;
  readonly options: CreationOptions;
}

const PATH = '/api/account/passkeys';

const CEREMONY_TEXTS = {
  aborted: 'account.passkey.refused',
  refused: 'account.passkey.refused',
  known: 'account.passkey.known',
  failed: 'account.passkey.failed',
} as const;

export function useNewPasskey(onAdded: (passkey: OwnPasskey) => void) {
  const text = useTexts();
  const { api, withProof } = useAccount();
  const [error, setError] = useState<string | null>(null);
  const [isAtWork, setIsAtWork] = useState(false);

  function reasonOf(failure: Failure): string {
    if (failure.code === 'invalid_state') return text('account.passkey.tooMany');
    if (failure.code === 'conflict') return text('account.passkey.known');
    const isOfCeremony = ['passkey_invalid', 'code_expired', 'code_consumed', 'invalid_request'].includes(failure.code);
    return isOfCeremony ? text('account.passkey.failed') : accountFailureText(text, failure);
  }

  /** @returns the error text; null on success or when cancelled. */
  async function make(): Promise<string | null> {
    const challenge = await withProof({ purpose: 'session' }, () => api.send<Challenge>('POST', `${PATH}/options`, {}));
    if (challenge === null) return null;
    if (!challenge.ok) return reasonOf(challenge);
    const { challengeId, options } = challenge.data;
    const ceremony = await createPasskey(options);
    if (!ceremony.ok) return text(CEREMONY_TEXTS[ceremony.reason]);
    const added = await api.send<OwnPasskey>('POST', PATH, { challengeId, credential: ceremony.credential });
    if (!added.ok) return reasonOf(added);
    onAdded(added.data);
    return null;
  }

  return {
    error,
    isAtWork,
    async add(): Promise<void> {
      if (isAtWork) return;
      setError(null);
      setIsAtWork(true);
      setError(await make());
      setIsAtWork(false);
    },
  };
}
