/** Archives, deletes or hides an application, confirmed by a mailed code. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { CODE_LENGTH, codeDigits } from '../../../pages/browser/code.ts';
import { addresses } from '../../address.ts';
import { api, ask, type Outcome } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { useConsole } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { LIFECYCLE_WORDS, type LifecycleStep } from './lifecycle-words.ts';

interface LifecycleDialogProps extends ApplicationViewProps {
  readonly step: LifecycleStep;
}

interface AskDialogProps extends LifecycleDialogProps {
  readonly onSent: (challengeId: string) => unknown;
}

/** Says what the step does, and has a code mailed. */
export function LifecycleDialog({ application, step, onSent }: AskDialogProps) {
  const words = LIFECYCLE_WORDS[step];
  return (
    <FormDialog
      id="lifecycle-dialog"
      title={`${words.verb} ${application.name}?`}
      lead={words.effect}
      submitText="Mail me a code"
      isDanger
      nameToType={words.isNameTyped ? application.slug : undefined}
      send={() => sendCode(application.id, step)}
      onDone={({ challengeId }) => onSent(challengeId)}
    />
  );
}

interface CodeDialogProps extends LifecycleDialogProps {
  readonly challengeId: string;
  readonly onDone: () => unknown;
}

/** Takes the code and carries the step out. */
export function CodeDialog({ application, step, challengeId: first, onDone }: CodeDialogProps) {
  const { me, workspace, reloadApplications } = useConsole();
  const report = useReport();
  const [challengeId, setChallengeId] = useState(first);
  const form = useForm({ code: '' });
  const { code } = form.values;
  const { verb } = LIFECYCLE_WORDS[step];

  async function sendAgain(): Promise<void> {
    const outcome = await sendCode(application.id, step);
    if (report(outcome, 'Another code is on its way.')) setChallengeId(outcome.data.challengeId);
  }

  async function confirm(): Promise<Outcome<unknown>> {
    const params = { path: { id: application.id } };
    const body = { challengeId, code };
    const outcome = await ask(api.POST('/api/applications/{id}/lifecycle/confirm', { params, body }));
    if (outcome.ok) await reloadApplications();
    return atCodeField(outcome);
  }

  return (
    <FormDialog
      id="code-dialog"
      title={`${verb} ${application.name}`}
      lead={
        <>
          We mailed a six-digit code to <strong>{me.email}</strong>. Without a mail server it is in the{' '}
          <Link href={addresses.workspace(workspace.id, 'outbox')}>outbox</Link>.
        </>
      }
      submitText={verb}
      isDanger
      isIncomplete={code.length !== CODE_LENGTH}
      form={form}
      fields={[
        { kind: 'code', id: 'lifecycle-code', name: 'code', label: 'Code', clean: codeDigits },
        <Action id="send-again" needs="nothing" onClick={sendAgain}>
          Mail another code
        </Action>,
      ]}
      send={confirm}
      onDone={onDone}
    />
  );
}

function sendCode(id: string, step: LifecycleStep) {
  const { body } = LIFECYCLE_WORDS[step];
  return ask(api.POST('/api/applications/{id}/lifecycle/send', { params: { path: { id } }, body }));
}

/** Shows every code error below the code field. */
function atCodeField<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok || !outcome.code.startsWith('code_')) return outcome;
  return { ...outcome, fields: [{ path: 'code', message: outcome.message }] };
}
