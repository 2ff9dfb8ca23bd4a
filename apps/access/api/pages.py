"""Lists come in pages by cursor."""

from rest_framework.pagination import CursorPagination


class Cursor(CursorPagination):
    """Newest first, 50 rows a page, up to 500 with `?page_size=`."""

    ordering = ("-created_at", "-id")
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500
