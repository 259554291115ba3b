/** Loads the instance's health, as far as the member may see it. */
import { api, ask, type Schemas } from '../../api.ts';
import { type Loaded, useLoaded } from '../../data.ts';
import { useConsole } from '../../console-context.tsx';

export function useHealth(): Loaded<Schemas['InstanceHealth']> {
  const { id } = useConsole().workspace;
  return useLoaded(() => ask(api.GET('/api/workspace/health', { params: { query: { workspaceId: id } } })), [id]);
}
