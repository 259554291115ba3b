/** Webhooks of an application, or one endpoint with its deliveries. */
import { useOpen } from '../../address.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { Endpoint } from './endpoint.tsx';
import { Endpoints } from './endpoints.tsx';

export function Webhooks({ application }: ApplicationViewProps) {
  const [webhookId, deliveryId] = useOpen();
  if (webhookId === undefined) return <Endpoints application={application} />;
  return <Endpoint key={webhookId} application={application} id={webhookId} deliveryId={deliveryId ?? null} />;
}
