/** Lucide icons in the text colour, hidden from screen readers because a text is always next to them. */
import { h } from 'preact';
import type { IconNode } from 'lucide';

export function Icon({ of, size = 20 }: { of: IconNode; size?: 16 | 20 | 24 }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <g fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">
        {of.map(([tag, attributes]) => h(tag, attributes))}
      </g>
    </svg>
  );
}

export function GateMark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path
        fill="currentColor"
        d="M3 21V5.5A1.5 1.5 0 0 1 4.5 4H6a1 1 0 0 1 1 1v1.5h3V5a1 1 0 0 1 1-1h2a1 1 0 0 1 1 1v1.5h3V5a1 1 0 0 1 1-1h1.5A1.5 1.5 0 0 1 21 5.5V21h-5.25v-5.25a3.75 3.75 0 0 0-7.5 0V21z"
      />
    </svg>
  );
}
