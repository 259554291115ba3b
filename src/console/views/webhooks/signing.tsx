/** Signing of deliveries, state of the secret, and verification code. */
import { Action } from '../../components/action.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { Panel } from '../../components/panel.tsx';
import { Snippets } from '../../components/snippets.tsx';
import { exactTime } from '../../components/format.ts';
import { VERIFICATION } from './snippets.ts';
import type { Webhook } from './webhook-calls.ts';

interface SigningProps {
  readonly webhook: Webhook;
  readonly onRotate: () => void;
}

export function Signing({ webhook: { previousSecretEndsAt }, onRotate }: SigningProps) {
  return (
    <>
      <Panel
        title="Signing secret"
        lead="It was shown when it was created and is not shown again. Anybody who has it can forge deliveries: rotate it if somebody may have seen it."
        action={
          <Action id="rotate-secret" onClick={onRotate}>
            Rotate secret
          </Action>
        }
      >
        {previousSecretEndsAt && (
          <p class="grace" id="secret-overlap">
            The previous secret signs as well for another{' '}
            <strong>
              <Countdown to={previousSecretEndsAt} />
            </strong>
            , until {exactTime(previousSecretEndsAt)}.
          </p>
        )}
      </Panel>
      <Panel
        title="Verify deliveries"
        lead={
          <>
            Each has a header <code>Svc-Signature: t=…,v1=…</code>: the time in seconds, and HMAC-SHA256 of{' '}
            <code>t.body</code> with the whole secret as key, in hex. During a rotation there are two <code>v1</code>.
            Refuse times more than 300 seconds off, and store <code>Svc-Event-Id</code>: it is the same on every retry.
          </>
        }
      >
        <Snippets label="Verification" of={VERIFICATION} />
      </Panel>
    </>
  );
}
