/** Changes an application and reloads it for every view before resolving. */
import { api, ask, type BodyOf, type Outcome, type Schemas } from '../../api.ts';
import { useConsole } from '../../console-context.tsx';

type Application = Schemas['Application'];

export function useApplicationPatch({
  id,
}: Application): (body: BodyOf<'updateApplication'>) => Promise<Outcome<Application>> {
  const { reloadApplications } = useConsole();
  return async (body) => {
    const outcome = await ask(api.PATCH('/api/applications/{id}', { params: { path: { id } }, body }));
    if (outcome.ok) await reloadApplications();
    return outcome;
  };
}
