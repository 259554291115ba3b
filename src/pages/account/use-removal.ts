/** Takes away a way to sign in: with the proof that it needs, and once more where it is the last one. */
import { useState } from 'preact/hooks';
import { accountFailureText } from './failure-words.ts';
import { useTexts } from '../components/texts.tsx';
import { type ProofWanted, useAccount } from './account-context.tsx';

export interface Removal {
  readonly warning: string | null;
  /** It was refused as the last way in: the next press goes on all the same. */
  readonly isForced: boolean;
  readonly isEndingOthers: boolean;
  setIsEndingOthers(isEndingOthers: boolean): void;
  /** Before another one is asked about. */
  reset(): void;
  /** @returns whether it is gone. */
  remove(path: string, proof: ProofWanted): Promise<boolean>;
}

export function useRemoval(): Removal {
  const text = useTexts();
  const { api, withProof } = useAccount();
  const [warning, setWarning] = useState<string | null>(null);
  const [isForced, setIsForced] = useState(false);
  const [isEndingOthers, setIsEndingOthers] = useState(false);
  return {
    warning,
    isForced,
    isEndingOthers,
    setIsEndingOthers,
    reset() {
      setWarning(null);
      setIsForced(false);
      setIsEndingOthers(false);
    },
    async remove(path, proof) {
      const query = new URLSearchParams({
        ...(isForced && { force: 'true' }),
        ...(isEndingOthers && { endAllSessions: 'true' }),
      });
      const outcome = await withProof(proof, () => api.send('DELETE', query.size > 0 ? `${path}?${query}` : path));
      if (outcome === null) return false;
      // Another tab may have been faster.
      if (outcome.ok || outcome.code === 'not_found') return true;
      setIsForced(outcome.code === 'invalid_state');
      setWarning(outcome.code === 'invalid_state' ? text('account.lastWayIn') : accountFailureText(text, outcome));
      return false;
    },
  };
}
