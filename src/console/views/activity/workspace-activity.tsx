/** Activity of the workspace and all its applications. */
import { useConsole } from '../../console-context.tsx';
import { ActivityView } from './activity-view.tsx';
import { activityOfWorkspace } from './source.ts';

export function WorkspaceActivity() {
  const { id, name } = useConsole().workspace;
  return <ActivityView source={activityOfWorkspace(id, name)} />;
}
