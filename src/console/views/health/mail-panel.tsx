/** Mail server, and a test mail. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { EmailField } from '../../../pages/components/field.tsx';
import { Button } from '../../../pages/components/button.tsx';
import { addresses } from '../../address.ts';
import { api, ask, type Failure, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { Facts } from '../../components/facts.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status, type Tone } from '../../components/status.tsx';
import { count } from '../../components/format.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { useMailServer } from './use-mail-server.tsx';

interface MailPanelProps {
  readonly mail: Schemas['InstanceMail'];
  readonly isOperator: boolean;
  readonly onChanged: () => unknown;
}

export function MailPanel({ mail, isOperator, onChanged }: MailPanelProps) {
  const { edit, remove, dialogs } = useMailServer(onChanged);
  const { source, server, from } = mail;
  return (
    <Panel
      id="mail"
      title="Mail"
      action={
        isOperator &&
        source !== 'environment' && (
          <div class="page-actions">
            {source === 'console' && (
              <Action id="remove-mail-server-button" needs="owner" onClick={remove}>
                Remove
              </Action>
            )}
            <Action id="set-mail-server" needs="owner" onClick={edit}>
              {source === 'console' ? 'Edit mail server' : 'Set up mail'}
            </Action>
          </div>
        )
      }
    >
      {source === null ? (
        <NoServer isOperator={isOperator} />
      ) : (
        <Facts
          of={[
            ['Server', isOperator ? <code>{server}</code> : 'A mail server'],
            isOperator && ['From', from ?? 'Not set'],
            isOperator && ['Set', source === 'environment' ? <ByEnvironment /> : 'In the console'],
          ]}
        />
      )}
      <MailTest />
      {dialogs}
    </Panel>
  );
}

function ByEnvironment() {
  return (
    <span>
      By <code>GATEHOUSE_SMTP_URL</code> and <code>GATEHOUSE_MAIL_FROM</code>: change them and restart the server.
    </span>
  );
}

function NoServer({ isOperator }: Pick<MailPanelProps, 'isOperator'>) {
  const { workspace } = useConsole();
  return (
    <p class="fine">
      There is no mail server: mails stay in the <Link href={addresses.workspace(workspace.id, 'outbox')}>outbox</Link>{' '}
      and reach nobody.
      {!isOperator && ' The operator of the instance can set one.'}
    </p>
  );
}

/** Sends a test mail to the member themselves, unless they choose another. */
export function MailTest() {
  const { workspace, me } = useConsole();
  const [to, setTo] = useState(me.email);
  const [isBusy, setIsBusy] = useState(false);
  const [result, setResult] = useState<Schemas['MailTest'] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);

  async function send(): Promise<void> {
    if (isBusy) return;
    setIsBusy(true);
    setResult(null);
    setFailure(null);
    const outcome = await ask(
      api.POST('/api/workspace/mail/test', {
        params: { query: { workspaceId: workspace.id } },
        body: { to: to.trim() },
      }),
    );
    setIsBusy(false);
    if (outcome.ok) setResult(outcome.data);
    else setFailure(outcome);
  }

  return (
    <form
      class="mail-test"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <EmailField
        id="mail-test-to"
        label="Test mail to"
        autocomplete="off"
        value={to}
        hint="You, or another member of the workspace."
        error={failure && (failure.fields.find(({ path }) => path === 'to')?.message ?? failure.message)}
        onInput={({ currentTarget }) => setTo(currentTarget.value)}
      />
      <Button id="send-test" type="submit" look="small" isBusy={isBusy}>
        Send test mail
      </Button>
      <div class="mail-test-answer" id="mail-test-answer" role="status">
        {result && <Answer result={result} />}
      </div>
    </form>
  );
}

const OUTCOMES: Readonly<Record<Schemas['MailTest']['outcome'], { readonly tone: Tone; readonly title: string }>> = {
  accepted: { tone: 'good', title: 'Accepted by the mail server' },
  refused: { tone: 'bad', title: 'Not sent' },
  captured: { tone: 'warn', title: 'Kept in the outbox' },
  timeout: { tone: 'warn', title: 'No answer yet' },
};

function Answer({ result }: { readonly result: Schemas['MailTest'] }) {
  const { workspace } = useConsole();
  const { isOwner } = useRights();
  const { outcome, answer, durationMs, to } = result;
  const { tone, title } = OUTCOMES[outcome];
  return (
    <>
      <Status tone={tone}>{title}</Status>
      <Facts
        of={[answer !== null && ['Answer', <code>{answer}</code>], ['To', to], ['Duration', `${count(durationMs)} ms`]]}
      />
      {outcome === 'accepted' && <p class="fine">Check the mailbox, and its spam folder.</p>}
      {outcome === 'timeout' && <p class="fine">The server is still trying. The outcome will be in the outbox.</p>}
      {outcome !== 'accepted' && isOwner && (
        <p class="fine">
          <Link href={addresses.workspace(workspace.id, 'outbox')}>Open the outbox</Link>
        </p>
      )}
    </>
  );
}
