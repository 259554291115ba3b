/** Attention list: warnings with their remedies, and endpoints in quarantine. */
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import type { Schemas } from '../../api.ts';
import { Status } from '../../components/status.tsx';

interface WarningsProps {
  /** Null for owners who do not run the instance. */
  readonly warnings: readonly Schemas['InstanceWarning'][] | null;
  readonly quarantined: readonly Schemas['QuarantinedEndpoint'][];
}

export function Warnings({ warnings, quarantined }: WarningsProps) {
  if (!warnings?.length && quarantined.length === 0)
    return (
      warnings && (
        <p class="all-well" id="all-well">
          <Status tone="good">Nothing needs attention</Status>
        </p>
      )
    );
  return (
    <ul class="warnings" id="warnings" aria-label="What needs attention">
      {warnings?.map(({ code, message, remedy }) => (
        <li key={code}>
          <strong>{message}</strong>
          {remedy}
        </li>
      ))}
      {quarantined.map(({ id, url, applicationId, applicationName }) => (
        <li key={id}>
          <strong>
            A webhook of {applicationName} is in quarantine: <code>{url}</code>
          </strong>
          Its events are held. Repair its endpoint, then{' '}
          <Link href={addresses.application(applicationId, 'webhooks', id)}>release the webhook</Link>.
        </li>
      ))}
    </ul>
  );
}
