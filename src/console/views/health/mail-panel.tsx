/** Mail transport, and a test mail. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { EmailField } from '../../../pages/components/field.tsx';
import { Button } from '../../../pages/components/button.tsx';
import { addresses } from '../../address.ts';
import { api, ask, type Failure, type Schemas } from '../../api.ts';
import { Facts } from '../../components/facts.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status, type Tone } from '../../components/status.tsx';
import { count } from '../../components/format.ts';
import { useRights, useConsole } from '../../console-context.tsx';

interface MailPanelProps {
  readonly mail: Schemas['InstanceMail'];
  readonly isOperator: boolean;
}

export function MailPanel({ mail, isOperator }: MailPanelProps) {
  const { workspace } = useConsole();
  const isSent = mail.transport === 'smtp';
  return (
    <Panel id="mail" title="Mail">
      {isSent ? (
        <Facts
          of={[
            ['Server', isOperator ? <code>{mail.server}</code> : 'A mail server'],
            isOperator && ['From', mail.from ?? 'Not set'],
          ]}
        />
      ) : (
        <p class="fine">
          There is no mail server: mails stay in the{' '}
          <Link href={addresses.workspace(workspace.id, 'outbox')}>outbox</Link> and reach nobody.{' '}
          {isOperator ? (
            <>
              Set <code>GATEHOUSE_SMTP_URL</code> and <code>GATEHOUSE_MAIL_FROM</code> and restart the server to send
              them.
            </>
          ) : (
            'The operator of the instance can set one.'
          )}
        </p>
      )}
      <MailTest />
    </Panel>
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
      <Button id="send-test" type="submit" look="small" aria-busy={isBusy ? 'true' : undefined}>
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
