/** People whose name, username or e-mail matches the search: records themselves are found by their address alone. */
import { User } from 'lucide';
import { Icon } from '../../../pages/components/icon.tsx';
import { api, ask, type Schemas } from '../../api.ts';
import type { operations } from '../../generated/api.ts';
import { useRights } from '../../console-context.tsx';
import { useLoaded } from '../../data.ts';

const MOST = 3;
/** Applications that are searched at once, and in all: each is a request. */
const AT_ONCE = 8;
const MOST_APPLICATIONS = 40;

interface PeopleFoundProps {
  readonly applicationIds: readonly string[];
  readonly q: string;
  readonly onChoose: (userId: string) => void;
}

async function findIn(
  applicationIds: readonly string[],
  query: NonNullable<operations['listUsers']['parameters']['query']>,
): Promise<readonly Schemas['UserEntry'][]> {
  const pages = await Promise.all(
    applicationIds.map((id) => ask(api.GET('/api/applications/{id}/users', { params: { path: { id }, query } }))),
  );
  return pages.flatMap((page) => (page.ok ? page.data.items : []));
}

export function PeopleFound({ applicationIds, q, onChoose }: PeopleFoundProps) {
  const { canWrite } = useRights();
  const query = { q, limit: MOST, ...(canWrite && { include: 'profile' as const }) };
  const { data } = useLoaded<readonly Schemas['UserEntry'][]>(async () => {
    const found = new Map<string, Schemas['UserEntry']>();
    for (let from = 0; from < MOST_APPLICATIONS && found.size < MOST; from += AT_ONCE)
      for (const user of await findIn(applicationIds.slice(from, from + AT_ONCE), query)) found.set(user.userId, user);
    return { ok: true, data: [...found.values()].slice(0, MOST) };
  }, [applicationIds.join(), q]);
  if (!data || data.length === 0) return null;
  return (
    <div class="id-filters" role="group" aria-label="People found">
      {data.map(({ userId, email, profile }) => (
        <button key={userId} class="button small" type="button" onClick={() => onChoose(userId)}>
          <Icon of={User} size={16} />
          <bdi>{profile?.fullName ? `${profile.fullName}, ${email}` : email}</bdi>
        </button>
      ))}
    </div>
  );
}
