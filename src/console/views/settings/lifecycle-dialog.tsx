/** Archives, deletes or hides an application, confirmed by a mailed code. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { CODE_LENGTH, codeDigits } from '../../../pages/browser/code.ts';
import { Field } from '../../../pages/components/field.tsx';
import { addresses } from '../../address.ts';
import { api, ask, type Outcome } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { DangerDialog } from '../../components/danger-dialog.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useWorld } from '../../rights.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { LIFECYCLE_WORDS, type LifecycleStep } from './lifecycle-words.ts';

interface LifecycleDialogProps extends ApplicationViewProps {
  readonly step: LifecycleStep;
  readonly onDone: () => unknown;
  readonly onClose: () => void;
}

export function LifecycleDialog({ application, step, onDone, onClose }: LifecycleDialogProps) {
  const { me, workspace } = useWorld();
  const report = useReport();
  const [challengeId, setChallengeId] = useState<string | null>(null);
  const [code, setCode] = useState('');
  const words = LIFECYCLE_WORDS[step];
  const params = { path: { id: application.id } };
  const send = () => ask(api.POST('/api/applications/{id}/lifecycle/send', { params, body: words.body }));

  async function sendAgain(): Promise<void> {
    const outcome = await send();
    if (report(outcome, 'Another code is on its way.')) setChallengeId(outcome.data.challengeId);
  }

  if (challengeId === null)
    return (
      <DangerDialog
        id="lifecycle-dialog"
        title={`${words.verb} ${application.name}?`}
        lead={words.effect}
        confirmText="Mail me a code"
        nameToType={words.isNameTyped ? application.slug : undefined}
        send={send}
        onDone={({ challengeId }) => setChallengeId(challengeId)}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      id="code-dialog"
      title={`${words.verb} ${application.name}`}
      lead={
        <>
          We mailed a six-digit code to <strong>{me.email}</strong>. Without a mail server it is in the{' '}
          <Link href={addresses.workspace(workspace.id, 'outbox')}>outbox</Link>.
        </>
      }
      submitText={words.verb}
      isDanger
      isIncomplete={code.length !== CODE_LENGTH}
      send={async () =>
        ofCode(await ask(api.POST('/api/applications/{id}/lifecycle/confirm', { params, body: { challengeId, code } })))
      }
      onDone={onDone}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <Field
            id="lifecycle-code"
            label="Code"
            class="code-input"
            inputMode="numeric"
            autocomplete="one-time-code"
            autoFocus
            value={code}
            error={errorOf('code')}
            onInput={({ currentTarget }) => setCode((currentTarget.value = codeDigits(currentTarget.value)))}
          />
          <Action id="send-again" needs="nothing" onClick={sendAgain}>
            Mail another code
          </Action>
        </>
      )}
    </FormDialog>
  );
}

/** Assigns every code error to the code field. */
function ofCode<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok || !outcome.code.startsWith('code_')) return outcome;
  return { ...outcome, fields: [{ path: 'code', message: outcome.message }] };
}
