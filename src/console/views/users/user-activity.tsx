import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask, type Outcome, type Page } from '../../api.ts';
import { Entries } from '../../components/entries.tsx';
import { DetailPart } from '../../components/list-detail.tsx';
import { Time } from '../../components/time.tsx';
import { useListed } from '../../data.ts';
import { Result } from '../activity/event-parts.tsx';
import { isByAnother, whoInWords } from '../activity/sentences.ts';
import { type AuthEvent, kindInWords } from '../activity/kinds.ts';

interface UserActivityProps {
  readonly applicationId: string;
  readonly userId: string;
}

const SHOWN = 8;

export function UserActivity({ applicationId, userId }: UserActivityProps) {
  const list = useListed<AuthEvent>(
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
      <Entries
        list={list}
        none="Nothing is on record."
        keyOf={({ id }) => id}
        render={(event) => (
          <>
            <Link href={addresses.application(applicationId, 'activity', event.id)}>{kindInWords(event.kind)}</Link>
            {!event.ok && <Result of={event} />}
            <span class="fine">
              {isByAnother(event) && <bdi>by {whoInWords(event)} · </bdi>}
              <Time at={event.createdAt} />
            </span>
          </>
        )}
      />
    </DetailPart>
  );
}
