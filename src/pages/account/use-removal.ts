/** Removes a sign-in method, with reauthentication and a second confirmation for the last one. */
import { useState } from 'preact/hooks';
import { accountFailureText } from './failure-words.ts';
import { useTexts } from '../components/texts.tsx';
import { type ProofWanted, useAccount } from './account-context.tsx';

export interface Removal {
  readonly warning: string | null;
  /** Refused as the last sign-in method: the next press forces it. */
  readonly isForced: boolean;
  readonly isEndingOthers: boolean;
  setIsEndingOthers(isEndingOthers: boolean): void;
  reset(): void;
  /** @returns whether it was removed. */
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
      // Another tab may have removed it.
      if (outcome.ok || outcome.code === 'not_found') return true;
      setIsForced(outcome.code === 'invalid_state');
      setWarning(outcome.code === 'invalid_state' ? text('account.lastWayIn') : accountFailureText(text, outcome));
      return false;
    },
  };
}
