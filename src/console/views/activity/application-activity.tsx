/** Activity of an application. */
import type { ApplicationViewProps } from '../../application-view.ts';
import { ActivityView } from './activity-view.tsx';
import { activityOfApplication } from './source.ts';

export function ApplicationActivity({ application: { id, name } }: ApplicationViewProps) {
  return <ActivityView source={activityOfApplication(id, name)} />;
}
