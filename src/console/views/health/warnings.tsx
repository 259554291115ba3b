/** Warnings for operators, each with its remedy. */
import type { Schemas } from '../../api.ts';
import { Status } from '../../components/status.tsx';

export function Warnings({ of }: { readonly of: readonly Schemas['InstanceWarning'][] }) {
  if (of.length === 0)
    return (
      <p class="all-well" id="all-well">
        <Status tone="good">Nothing needs attention</Status>
      </p>
    );
  return (
    <ul class="warnings" id="warnings" aria-label="What needs attention">
      {of.map(({ code, message, remedy }) => (
        <li key={code}>
          <strong>{message}</strong>
          {remedy}
        </li>
      ))}
    </ul>
  );
}
