/** A doubly linked list of items that hold their own links: adding and removing allocate nothing. */

export interface Linked<Item> {
  before: Item | null;
  behind: Item | null;
}

/** Keeps items in order of arrival. An item is in one list at most. */
export class LinkedList<Item extends Linked<Item>> {
  first: Item | null = null;
  #last: Item | null = null;

  add(item: Item): void {
    item.before = this.#last;
    item.behind = null;
    if (this.#last) this.#last.behind = item;
    else this.first = item;
    this.#last = item;
  }

  remove({ before, behind }: Item): void {
    if (before) before.behind = behind;
    else this.first = behind;
    if (behind) behind.before = before;
    else this.#last = before;
  }
}
