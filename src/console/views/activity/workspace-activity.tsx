/** Activity of the workspace and all its applications. */
import { useWorld } from '../../rights.tsx';
import { ActivityView } from './activity-view.tsx';
import { activityOfWorkspace } from './source.ts';

export function WorkspaceActivity() {
  const { id, name } = useWorld().workspace;
  return <ActivityView source={activityOfWorkspace(id, name)} />;
}
