/** Latest activity of a user. */
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask, type Outcome, type Page } from '../../api.ts';
import { FailureNote } from '../../components/failure-note.tsx';
import { DetailPart } from '../../components/list-detail.tsx';
import { Time } from '../../components/time.tsx';
import { useListed } from '../../data.ts';
import { Result } from '../activity/event-parts.tsx';
import { type AuthEvent, kindInWords } from '../activity/kinds.ts';

interface UserActivityProps {
  readonly applicationId: string;
  readonly userId: string;
}

const SHOWN = 8;

export function UserActivity({ applicationId, userId }: UserActivityProps) {
  const { items, failure, reload } = useListed<AuthEvent>(
    (): Promise<Outcome<Page<AuthEvent>>> =>
      ask(
        api.GET('/api/applications/{id}/activity/list', {
          params: { path: { id: applicationId }, query: { userId, limit: SHOWN } },
        }),
      ),
    [applicationId, userId],
  );
  const all = `${addresses.application(applicationId, 'activity')}?userId=${encodeURIComponent(userId)}`;
  return (
    <DetailPart title="Latest activity" action={<Link href={all}>Show all</Link>}>
      {failure && <FailureNote failure={failure} onRetry={reload} />}
      {items === null && !failure && <div class="skeleton" aria-busy="true" />}
      {items?.length === 0 && <p class="muted">Nothing is on record.</p>}
      {items !== null && items.length > 0 && (
        <ul class="entries">
          {items.map((event) => (
            <li key={event.id}>
              <Link href={addresses.application(applicationId, 'activity', event.id)}>{kindInWords(event.kind)}</Link>
              {!event.ok && <Result of={event} />}
              <span class="fine">
                <Time at={event.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </DetailPart>
  );
}
