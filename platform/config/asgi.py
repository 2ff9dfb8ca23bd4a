"""HTTP and WebSocket, one application."""

import os
import threading

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()  # loads the apps that the routes below import

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator

from apps.answers.services import powers
from config import slim
from config.urls import websocket_urlpatterns

routes = ProtocolTypeRouter(
    {"http": http, "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))}
)


threading.Thread(target=powers.warm_up, name="warm-up", daemon=True).start()


async def application(scope: slim.Message, receive: slim.Receive, send: slim.Send) -> None:
    """Send the caches' request path its slim way, everything else through Django and Channels."""
    if slim.takes(scope):
        await slim.application(scope, receive, send)
    else:
        await routes(scope, receive, send)
