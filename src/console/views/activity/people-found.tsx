/** People whose name, username or e-mail matches the search: records themselves are found by their address alone. */
import { User } from 'lucide';
import { Icon } from '../../../pages/components/icon.tsx';
import { api, ask } from '../../api.ts';
import { useRights } from '../../console-context.tsx';
import { useLoaded } from '../../data.ts';

const MOST = 3;

interface PeopleFoundProps {
  readonly applicationId: string;
  readonly q: string;
  readonly onChoose: (userId: string) => void;
}

export function PeopleFound({ applicationId, q, onChoose }: PeopleFoundProps) {
  const { canWrite } = useRights();
  const { data } = useLoaded(() => {
    const query = { q, limit: MOST, ...(canWrite && { include: 'profile' as const }) };
    return ask(api.GET('/api/applications/{id}/users', { params: { path: { id: applicationId }, query } }));
  }, [applicationId, q]);
  if (!data || data.items.length === 0) return null;
  return (
    <div class="id-filters" role="group" aria-label="People found">
      {data.items.map(({ userId, email, profile }) => (
        <button key={userId} class="button small" type="button" onClick={() => onChoose(userId)}>
          <Icon of={User} size={16} />
          <bdi>{profile?.fullName ? `${profile.fullName}, ${email}` : email}</bdi>
        </button>
      ))}
    </div>
  );
}
