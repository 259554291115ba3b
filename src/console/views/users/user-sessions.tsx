import { deviceNameOf } from '../../../core/device-name.ts';
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Outcome, type Page, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Entries } from '../../components/entries.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { DetailPart } from '../../components/list-detail.tsx';
import { Time } from '../../components/time.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { counted, exactTime } from '../../components/format.ts';
import { useListed } from '../../data.ts';
import { methodInWords } from '../activity/kinds.ts';

type Session = Schemas['UserSession'];

const deviceOf = ({ userAgent }: Session) => deviceNameOf(userAgent) ?? 'Unknown device';

/** Tells sessions on equal devices apart by their address and last use. */
const describe = (session: Session) =>
  [deviceOf(session), session.ip, `seen ${exactTime(session.lastSeenAt)}`].filter(Boolean).join(', ');

interface UserSessionsProps {
  readonly applicationId: string;
  readonly user: Schemas['UserDetail'];
}

const PAGE = 20;

export function UserSessions({ applicationId, user: { userId, email } }: UserSessionsProps) {
  const report = useReport();
  const toast = useToast();
  const path = { id: applicationId, userId };
  const list = useListed<Session>(
    (cursor): Promise<Outcome<Page<Session>>> =>
      ask(
        api.GET('/api/applications/{id}/users/{userId}/sessions', { params: { path, query: { cursor, limit: PAGE } } }),
      ),
    [applicationId, userId],
  );
  const { items, hasMore } = list;
  const { open, dialog } = useDialog(() => (
    <FormDialog
      id="end-sessions-dialog"
      title={`End every session of ${email}?`}
      lead="They are signed out everywhere at once, and may sign in again. Connected devices stay."
      submitText="End all sessions"
      isDanger
      send={() => ask(api.DELETE('/api/applications/{id}/users/{userId}/sessions', { params: { path } }))}
      onDone={({ revoked }) => {
        toast(`${counted(revoked, 'session')} ended.`);
        void list.reload();
      }}
    />
  ));

  async function end(session: Session): Promise<void> {
    const outcome = await ask(
      api.DELETE('/api/applications/{id}/users/{userId}/sessions/{sessionId}', {
        params: { path: { ...path, sessionId: session.id } },
      }),
    );
    if (report(outcome, 'The session was ended.')) list.change((now) => now.filter(({ id }) => id !== session.id));
  }

  return (
    <DetailPart
      title="Sessions"
      action={
        items !== null &&
        items.length > 0 && (
          <Action id="end-sessions" onClick={open}>
            End all
          </Action>
        )
      }
    >
      <Entries
        id="sessions"
        list={list}
        none="No open sessions."
        keyOf={({ id }) => id}
        render={(session) => (
          <>
            <div>
              <span>{deviceOf(session)}</span>
              <span class="fine block">
                {[methodInWords(session.method), session.ip].filter(Boolean).join(' · ')} · seen{' '}
                <Time at={session.lastSeenAt} /> · ends <Time at={session.expiresAt} />
              </span>
            </div>
            <Action label={`End the session on ${describe(session)}`} onClick={() => end(session)}>
              End
            </Action>
          </>
        )}
      />
      {hasMore && (
        <button class="link" type="button" onClick={() => void list.loadMore()}>
          Show more
        </button>
      )}
      {dialog}
    </DetailPart>
  );
}
