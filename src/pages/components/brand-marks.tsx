export function PasskeyMark() {
  return (
    <svg class="icon" width="20" height="20" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <g fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="9.5" cy="7.5" r="4" />
        <path d="M2.5 20.5c0-3.6 2.9-6 6.6-6 1.1 0 2.1.2 3 .6" />
        <circle cx="17.5" cy="12.5" r="2.75" />
        <path d="M17.5 15.25v6.25l1.75-1.5-1-1.25 1-1.25-1-1" />
      </g>
    </svg>
  );
}

/** Google's logo for Google, a generic icon for every other provider. */
export function ProviderMark({ name }: { name: string }) {
  return name.toLowerCase() === 'google' ? <GoogleMark /> : <DoorMark />;
}

function GoogleMark() {
  return (
    <svg class="icon" width="20" height="20" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path
        fill="#4285F4"
        d="M22.56 12.25c0-.78-.07-1.53-.2-2.25H12v4.26h5.92a5.06 5.06 0 0 1-2.2 3.32v2.77h3.57c2.08-1.92 3.27-4.74 3.27-8.1z"
      />
      <path
        fill="#34A853"
        d="M12 23c2.97 0 5.46-.98 7.28-2.66l-3.57-2.77c-.98.66-2.23 1.06-3.71 1.06-2.86 0-5.29-1.93-6.16-4.53H2.18v2.84A11 11 0 0 0 12 23z"
      />
      <path fill="#FBBC05" d="M5.84 14.09a6.6 6.6 0 0 1 0-4.18V7.07H2.18a11 11 0 0 0 0 9.86l3.66-2.84z" />
      <path
        fill="#EA4335"
        d="M12 5.38c1.62 0 3.06.56 4.21 1.64l3.15-3.15C17.45 2.09 14.97 1 12 1A11 11 0 0 0 2.18 7.07l3.66 2.84C6.71 7.31 9.14 5.38 12 5.38z"
      />
    </svg>
  );
}

function DoorMark() {
  return (
    <svg class="icon" width="20" height="20" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
        d="M14 3.5h4.5a2 2 0 0 1 2 2v13a2 2 0 0 1-2 2H14M10 16.5l4.5-4.5L10 7.5M14.5 12h-11"
      />
    </svg>
  );
}
