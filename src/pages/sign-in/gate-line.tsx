/** One line below the heading of the first step: whom the application lets in. */
import type { AccessRequest } from '../browser/access-request.ts';
import { dayText } from '../components/day-text.ts';
import { useTexts } from '../components/texts.tsx';
import type { PublicState } from './offer.ts';

interface GateLineProps {
  readonly state: PublicState | null;
  /** An earlier request from this browser. */
  readonly request: AccessRequest | null;
  onAsk(): void;
}

export function GateLine({ state, request, onAsk }: GateLineProps) {
  const text = useTexts();
  if (!state || state.stage === 'draft' || state.signinGate === 'public') return null;
  const isBeta = state.signinGate === 'private_beta';
  const day = request?.since && dayText(text.locale, request.since);
  return (
    <p class="lead" id="gate">
      {text(isBeta ? 'signin.betaLine' : 'signin.closedLine')}{' '}
      {day ? (
        text('signin.recordedOn', { date: day })
      ) : (
        <>
          {isBeta && text('signin.noInvitation')}{' '}
          <button class="link" id="ask-access" type="button" onClick={onAsk}>
            {text(isBeta ? 'signin.requestAccess' : 'signin.tellMe')}
          </button>
        </>
      )}
    </p>
  );
}
