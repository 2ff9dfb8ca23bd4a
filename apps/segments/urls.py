"""Doors of the segments API."""

from django.urls import URLPattern, URLResolver

urlpatterns: list[URLPattern | URLResolver] = []
websocket_urlpatterns: list[URLPattern] = []
