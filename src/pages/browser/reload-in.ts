/** Reloads the page in another language. A reload, unlike a navigation, continues at the step that was shown. */
export function reloadIn(locale: string): void {
  const address = new URL(location.href);
  address.searchParams.set('locale', locale);
  history.replaceState(history.state, '', address);
  location.reload();
}
