// The one websocket: commands go out, messages come in; a lost one is made anew.

const AGAIN_MS = 1000;

export class Link {
  constructor(receive, tell) {
    this.receive = receive;
    this.tell = tell;
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(`ws://${location.host}/talk`);
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    this.socket.onopen = () => this.tell("");
    this.socket.onclose = () => {
      this.tell("no connection to the studio");
      setTimeout(() => this.connect(), AGAIN_MS);
    };
  }

  send(name, values = {}) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ do: name, ...values }));
  }

  // Sends only the last of many commands in a row.
  sendSoon(name, values, wait = 120) {
    clearTimeout(this[name]);
    this[name] = setTimeout(() => this.send(name, values), wait);
  }
}
