/** Sessions of a user, and ending them. */
import { useState } from 'preact/hooks';
import { deviceNameOf } from '../../../core/device-name.ts';
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Outcome, type Page, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { DangerDialog } from '../../components/danger-dialog.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { DetailPart } from '../../components/list-detail.tsx';
import { Time } from '../../components/time.tsx';
import { counted } from '../../components/words.ts';
import { useListed } from '../../data.ts';
import { methodInWords } from '../activity/kinds.ts';

type Session = Schemas['UserSession'];

interface UserSessionsProps {
  readonly applicationId: string;
  readonly user: Schemas['UserDetail'];
}

const PAGE = 20;

export function UserSessions({ applicationId, user: { userId, email } }: UserSessionsProps) {
  const report = useReport();
  const toast = useToast();
  const [isEndAsked, setIsEndAsked] = useState(false);
  const path = { id: applicationId, userId };
  const list = useListed<Session>(
    (cursor): Promise<Outcome<Page<Session>>> =>
      ask(
        api.GET('/api/applications/{id}/users/{userId}/sessions', { params: { path, query: { cursor, limit: PAGE } } }),
      ),
    [applicationId, userId],
  );
  const { items, failure, hasMore } = list;

  async function end(session: Session): Promise<void> {
    const outcome = await ask(
      api.DELETE('/api/applications/{id}/users/{userId}/sessions/{sessionId}', {
        params: { path: { ...path, sessionId: session.id } },
      }),
    );
    if (report(outcome, 'The session is over.')) list.change((now) => now.filter(({ id }) => id !== session.id));
  }

  return (
    <DetailPart
      title="Sessions"
      action={
        items !== null &&
        items.length > 0 && (
          <Action id="end-sessions" onClick={() => setIsEndAsked(true)}>
            End all
          </Action>
        )
      }
    >
      {failure && <FailureNote failure={failure} onRetry={list.reload} />}
      {items === null && !failure && <div class="skeleton" aria-busy="true" />}
      {items?.length === 0 && <p class="muted">Signed in nowhere.</p>}
      {items !== null && items.length > 0 && (
        <ul class="entries" id="sessions">
          {items.map((session) => (
            <li key={session.id}>
              <div>
                <span>{deviceNameOf(session.userAgent) ?? 'Unknown device'}</span>
                <span class="fine block">
                  {[methodInWords(session.method), session.ip].filter(Boolean).join(' · ')} · seen{' '}
                  <Time at={session.lastSeenAt} /> · ends <Time at={session.expiresAt} />
                </span>
              </div>
              <Action onClick={() => end(session)}>End</Action>
            </li>
          ))}
        </ul>
      )}
      {hasMore && (
        <button class="link" type="button" onClick={() => void list.loadMore()}>
          Show more
        </button>
      )}
      {isEndAsked && (
        <DangerDialog
          id="end-sessions-dialog"
          title={`End every session of ${email}?`}
          lead="They are signed out everywhere at once, and may sign in again. Connected devices stay."
          confirmText="End all sessions"
          send={() => ask(api.DELETE('/api/applications/{id}/users/{userId}/sessions', { params: { path } }))}
          onDone={({ revoked }) => {
            setIsEndAsked(false);
            toast(`${counted(revoked, 'session')} ended.`);
            void list.reload();
          }}
          onClose={() => setIsEndAsked(false)}
        />
      )}
    </DetailPart>
  );
}
