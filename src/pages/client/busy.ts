/** Lets one request run at a time, and shows on its button that it does. */

/** Returns a runner that ignores calls while an earlier one is still at work: a double click sends once. */
export function createBusyRunner(): (button: HTMLElement, work: () => Promise<void>) => Promise<void> {
  let isBusy = false;
  return async (button, work) => {
    if (isBusy) return;
    isBusy = true;
    button.setAttribute('aria-busy', 'true');
    try {
      await work();
    } finally {
      isBusy = false;
      button.removeAttribute('aria-busy');
    }
  };
}
