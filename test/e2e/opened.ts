interface Closable {
  close(): Promise<void>;
}

const opened: Closable[] = [];

/** Closed once the tests of the file that is running are over: they run at once, and none knows when the others are done. */
export function closeAfterFile(closable: Closable): void {
  opened.push(closable);
}

export async function closeOpened(): Promise<void> {
  await Promise.all(opened.splice(0).map((each) => each.close()));
}
