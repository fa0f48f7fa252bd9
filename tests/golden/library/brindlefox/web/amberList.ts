// The list of pairs that a person has to decide. Keyboard first: our best user never touches a mouse.

export type Verdict = "pay" | "dispute" | "later";

export interface AmberPair {
  id: string;
  billed: number;
  delivered: number;
  reason: "price" | "quantity" | "unknown-article" | "duplicate-bill";
  waitingSince: Date;
}

const KEYS: Record<string, Verdict> = { p: "pay", d: "dispute", " ": "later" };

/** Oldest first, but suspected duplicates before everything: they cost whole bills. */
export function inOrder(pairs: AmberPair[]): AmberPair[] {
  return [...pairs].sort((a, b) => {
    const duplicate = Number(b.reason === "duplicate-bill") - Number(a.reason === "duplicate-bill");
    return duplicate || a.waitingSince.getTime() - b.waitingSince.getTime();
  });
}

/** The verdict for a key, or undefined while a dialog is open, so that nobody pays by typing a name. */
export function verdictFor(key: string, dialogOpen: boolean): Verdict | undefined {
  return dialogOpen ? undefined : KEYS[key.toLowerCase()];
}
