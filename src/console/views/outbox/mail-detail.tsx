/** Detail of a mail: content and code if readable, otherwise the reason. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { AbsentDetail } from '../../components/absent-detail.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Detail, DetailPart } from '../../components/list-detail.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../components/format.ts';
import { useLoaded } from '../../data.ts';
import { useEvery } from '../../refresh.ts';
import { useConsole } from '../../console-context.tsx';
import { KIND_WORDS, STATE_WORDS } from './mail-words.ts';

const EVERY_MS = 4000;

interface MailDetailProps {
  readonly mailId: string;
  readonly closeTo: string;
}

export function MailDetail({ mailId, closeTo }: MailDetailProps) {
  const { workspace, applications } = useConsole();
  const [isLooked, setLooked] = useState(false);
  const { data, failure, reload } = useLoaded(
    () =>
      ask(
        api.GET('/api/workspace/outbox/{mailId}', {
          params: { path: { mailId }, query: { workspaceId: workspace.id } },
        }),
      ),
    [workspace.id, mailId],
  );
  useEvery(data?.status === 'queued' ? EVERY_MS : null, reload);

  if (!data)
    return (
      <AbsentDetail
        title="Mail"
        closeTo={closeTo}
        failure={failure}
        onRetry={reload}
        missing="There is no such mail in this workspace. It may have been removed."
      />
    );
  const state = STATE_WORDS[data.status];
  const application = applications.find(({ id }) => id === data.applicationId);
  return (
    <Detail
      title={<span dir="auto">{data.subject ?? `Mail to ${data.to}`}</span>}
      subtitle={`From ${data.sender ?? 'Gatehouse'} to ${data.to}`}
      closeTo={closeTo}
    >
      {data.code !== null && (
        <div class="mail-code">
          <CopyBox id="mail-code" value={data.code} label="code" />
        </div>
      )}
      {!data.isReadable && (
        <p class="note" id="mail-unreadable">
          {state.unreadable}
        </p>
      )}
      <Facts
        of={[
          [
            'Status',
            <>
              <Status tone={state.tone}>{state.title}</Status>
              <span class="fine mail-meaning">{state.meaning}</span>
            </>,
          ],
          ['Kind', KIND_WORDS[data.lane]],
          application !== undefined && [
            'Application',
            <Link href={addresses.application(application.id)}>
              <span dir="auto">{application.name}</span>
            </Link>,
          ],
          ['Created', <Time at={data.createdAt} />],
          data.status !== 'captured' && data.sentAt !== null && ['Sent', <Time at={data.sentAt} />],
          data.status !== 'captured' && data.attempts > 0 && ['Attempts', count(data.attempts)],
          data.lastError !== null && ['Last answer', data.lastError],
        ]}
      />
      {data.text !== null && (
        <DetailPart title="Contents">
          {isLooked ? (
            // Sandboxed without scripts or navigation, because mails contain user-supplied text.
            <iframe
              id="mail-look"
              class="mail-look"
              title="Rendered mail"
              sandbox=""
              src={`/api/workspace/outbox/${mailId}/look?workspaceId=${workspace.id}`}
            />
          ) : (
            <pre class="mail-text" dir="auto" tabIndex={0}>
              {data.text.trim()}
            </pre>
          )}
          {data.html !== null && (
            <Action id="mail-looks" needs="nothing" onClick={() => setLooked(!isLooked)}>
              {isLooked ? 'Show as text' : 'Show rendered'}
            </Action>
          )}
        </DetailPart>
      )}
    </Detail>
  );
}
